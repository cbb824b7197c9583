"""Conditions as sets of values of operands. Proof: docs/proofs/derived.md.

A region is the rows whose operands lie, each, in the set that the region has of it; an
operand that it does not name may be anything. What is no set of an operand, such as
EXISTS or a comparison of two columns, is an operand of its own whose values are TRUE
and FALSE. So two regions can be compared operand by operand, without any row.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from privacy.schema import ColumnType
from query_lang.normalising.conditions import is_null_constant
from query_lang.normalising.terms import Term, digest_of, is_truth
from query_lang.normalising.value_sets import (
    Intervals,
    NumberSet,
    TextSet,
    ValueSet,
    texts_of,
    universe_of,
)

_TRUTHS: Final = frozenset({"true", "false"})


@dataclass(frozen=True, slots=True)
class Part:
    """A set of the values of one operand, NULL in it or not.

    Attributes:
        values: Those that are not NULL, within the operand's public values.
        null: Whether NULL is in it; never so of an operand that cannot be NULL.
        nullable: Whether the operand can be NULL.
    """

    values: ValueSet
    null: bool
    nullable: bool

    def met(self, other: "Part") -> "Part":
        """Return what lies in both; both are of one operand."""
        values = _both(self.values, other.values)
        return replace(self, values=values, null=self.null and other.null)

    def joined(self, other: "Part") -> "Part":
        """Return what lies in either."""
        return self.rest().met(other.rest()).rest()

    def rest(self) -> "Part":
        """Return what lies outside."""
        null = self.nullable and not self.null
        return replace(self, values=self.values.rest(), null=null)

    def without(self, other: "Part") -> "Part":
        """Return what lies in this alone."""
        return self.met(other.rest())

    def whole(self) -> "Part":
        """Return all that the operand can be."""
        return self.joined(self.rest())

    @property
    def is_empty(self) -> bool:
        """Whether nothing lies in it."""
        return self.values.is_empty and not self.null

    @property
    def is_whole(self) -> bool:
        """Whether all that the operand can be lies in it."""
        return self.values.is_all and self.null == self.nullable


def _both(one: ValueSet, other: ValueSet) -> ValueSet:
    if isinstance(one, NumberSet) and isinstance(other, NumberSet):
        return one.met(other)
    if isinstance(one, TextSet) and isinstance(other, TextSet):
        return one.met(other)
    message = "sets of one operand are of one kind"
    raise AssertionError(message)


Region = Mapping[str, Part]
"""Sets by operand. An operand's name tells its public values too, so that sets of one
name are sets of one universe."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What is known of an operand beside its name.

    Attributes:
        name: A digest of its term and of what its values can be.
        constant: Whether all rows of one unit have one value of it (PRIVACY 3).
    """

    name: str
    constant: bool = field(compare=False)


def region_of(condition: Term) -> dict[Operand, Part] | None:
    """Return the rows for which a condition is TRUE; None where it never is."""
    if is_truth(condition, holds=False) or is_null_constant(condition):
        return None
    found: dict[Operand, Part] = {}
    for part in condition.parts if condition.head == "and" else (condition,):
        if is_truth(part, holds=True):
            continue
        operand, values = _part_of(part)
        known = found.get(operand)
        found[operand] = values if known is None else known.met(values)
    return found


def _part_of(condition: Term) -> tuple[Operand, Part]:  # noqa: PLR0911 - an arm a form
    """Return a condition that is no AND as a set of its operand."""
    value = condition.value
    if condition.head == "or":
        return _union(condition)
    if condition.head == "within" and isinstance(value, NumberSet | TextSet):
        return _named(condition.parts[0], value, null=False)
    if condition.head == "is_null":
        return _is_null(condition.parts[0])
    if condition.head == "not" and condition.parts[0].head == "is_null":
        operand, values = _is_null(condition.parts[0].parts[0])
        return operand, values.rest()
    if condition.head == "not":
        return _named(condition.parts[0], _truths("false"), null=False)
    return one_part(condition)


def _union(condition: Term) -> tuple[Operand, Part]:
    """Return an OR as the union of its parts, where all are of one operand."""
    (operand, joined), *others = [_part_of(part) for part in condition.parts]
    if any(other != operand for other, _ in others):
        return one_part(condition)
    for _, values in others:
        joined = joined.joined(values)
    return operand, joined


def one_part(condition: Term) -> tuple[Operand, Part]:
    """Return a condition as an operand of its own, and the part where it is TRUE."""
    return _named(condition, _truths("true"), null=False)


def _truths(*values: str) -> TextSet:
    return TextSet.of(values, _TRUTHS)


def _is_null(operand: Term) -> tuple[Operand, Part]:
    return _named(operand, _everything(operand).rest(), null=operand.facts.nullable)


def _everything(operand: Term) -> ValueSet:
    """Return all values that a term can have; of no other type they are texts."""
    facts = operand.facts
    if facts.type is ColumnType.BOOLEAN:
        return _truths(*_TRUTHS)
    if facts.type is ColumnType.TEXT:
        return TextSet.of((), texts_of(facts)).rest()
    return NumberSet.of(universe_of(facts), universe_of(facts))


def _named(operand: Term, values: ValueSet, *, null: bool) -> tuple[Operand, Part]:
    nullable = operand.facts.nullable
    name = _name(operand.key, values.universe, nullable=nullable)
    return Operand(name, operand.facts.constant), Part(values, null, nullable)


@lru_cache(1_024)
def _name(
    term: str, universe: Intervals | frozenset[str] | None, *, nullable: bool
) -> str:
    listed = sorted(universe) if isinstance(universe, frozenset) else str(universe)
    return digest_of([term, listed, nullable])


def anything(value: Term) -> tuple[Operand, Part]:
    """Return a term as an operand of which nothing is asked, and all that it can be."""
    values = TextSet.of(["true"], frozenset({"true"}))
    name = digest_of(["anything", value.key])
    return Operand(name, value.facts.constant), Part(values, null=False, nullable=False)


def restricting(region: Iterable[tuple[str, Part]]) -> dict[str, Part]:
    """Return a region without the operands that may be anything in it."""
    return {name: part for name, part in region if not part.is_whole}
