"""CASE and COALESCE, brought to one form. Proof: docs/proofs/normal_form.md."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from privacy.schema import ColumnType
from query_lang.normalising.conditions import (
    Conditions,
    chain,
    is_null_constant,
    within,
)
from query_lang.normalising.numbers import is_number
from query_lang.normalising.terms import Term, is_truth, term
from query_lang.normalising.value_sets import NumberSet, TextSet, ValueSet
from query_lang.plans.expressions import Facts

Branch = tuple[Term, Term]  # condition, result


def case(
    branches: Sequence[Branch], otherwise: Term, facts: Facts, conditions: Conditions
) -> Term:
    """Return the result of the first branch whose condition is TRUE, else the rest.

    Args:
        branches: In order.
        otherwise: Where no condition is TRUE.
        facts: Of the value.
        conditions: What brings conditions to one form.
    """
    held = [(conditions.holding(when), then) for when, then in branches]
    kept = [pair for pair in held if not is_truth(pair[0], holds=False)]
    certain = (n for n, pair in enumerate(kept) if is_truth(pair[0], holds=True))
    last = next(certain, None)
    if last is not None:
        kept, otherwise = kept[:last], kept[last][1]
    by_value = _by_value(kept, otherwise)
    if by_value is None:
        return _chosen(_joined(kept, otherwise), otherwise, facts, conditions)
    return _chosen(*by_value, facts, conditions)


def _joined(branches: Sequence[Branch], otherwise: Term) -> list[Branch]:
    """Return branches in order, neighbours of one result as one."""
    found: list[Branch] = []
    for when, then in branches:
        if found and found[-1][1].key == then.key:
            found[-1] = chain("or", (found[-1][0], when)), then
        else:
            found.append((when, then))
    while found and found[-1][1].key == otherwise.key:
        found.pop()
    return found


@dataclass(slots=True)
class _Region:
    """The values of one operand for which a CASE has one result."""

    result: Term
    values: ValueSet


def _by_value(
    branches: Sequence[Branch], otherwise: Term
) -> tuple[list[Branch], Term] | None:
    """Return branches on disjoint sets of one operand, in one order.

    None where the conditions are of several operands. Of an operand that is never NULL,
    the result that ``_as_rest`` puts last stands after ELSE.
    """
    operands = {when.parts[0].key for when, _ in branches if when.head == "within"}
    if len(operands) != 1 or any(when.head != "within" for when, _ in branches):
        return None
    operand = branches[0][0].parts[0]
    left: ValueSet | None = None
    regions: dict[str, _Region] = {}
    for when, then in branches:
        values = _values(when)
        left = _everything(values) if left is None else left
        _add(regions, then, _both(left, values))
        left = _both(left, values.rest())
    if left is not None:
        _add(regions, otherwise, left)
    found = [
        (within(operand, region.values), region.result)
        for region in sorted(regions.values(), key=lambda each: each.result.key)
        if not region.values.is_empty
    ]
    if not operand.facts.nullable:  # what else is left over is no value at all
        otherwise = max((then for _, then in found), key=_as_rest)
    found = [pair for pair in found if pair[1].key != otherwise.key]
    return found, otherwise


def _as_rest(result: Term) -> tuple[bool, bool, str]:
    """Return by what the result is picked that stands after ELSE: NULL, then 0."""
    return is_null_constant(result), is_zero(result), result.key


def is_zero(one: Term) -> bool:
    """Whether a term is the literal 0."""
    return one.head == "constant" and is_number(one.value) and one.value == 0


def _values(when: Term) -> ValueSet:
    if isinstance(when.value, NumberSet | TextSet):
        return when.value
    raise AssertionError


def _everything(values: ValueSet) -> ValueSet:
    if isinstance(values, NumberSet):
        return NumberSet(values.universe, values.universe)
    if values.universe is None:
        return TextSet(frozenset(), None, excluded=True)
    return TextSet(values.universe, values.universe)


def _both(one: ValueSet, other: ValueSet) -> ValueSet:
    if isinstance(one, NumberSet) and isinstance(other, NumberSet):
        return one.met(other)
    if isinstance(one, TextSet) and isinstance(other, TextSet):
        return one.met(other)
    raise AssertionError


def _either(one: ValueSet, other: ValueSet) -> ValueSet:
    if isinstance(one, NumberSet) and isinstance(other, NumberSet):
        return one.joined(other)
    if isinstance(one, TextSet) and isinstance(other, TextSet):
        return one.joined(other)
    raise AssertionError


def _add(regions: dict[str, _Region], result: Term, values: ValueSet) -> None:
    known = regions.get(result.key)
    if known is None:
        regions[result.key] = _Region(result, values)
    else:
        known.values = _either(known.values, values)


def _chosen(
    branches: Sequence[Branch], otherwise: Term, facts: Facts, conditions: Conditions
) -> Term:
    """Return the CASE that is left; of one branch perhaps a condition, or turned."""
    if not branches:
        return otherwise
    if len(branches) == 1:
        ((when, then),) = branches
        for truth, rest in ((then, otherwise), (otherwise, then)):
            if is_truth(truth, holds=True) and is_truth(rest, holds=False):
                found = conditions.is_true(when)
                return found if truth is then else conditions.negated(found)
        there = conditions.negated(conditions.is_null(then))
        if is_null_constant(otherwise) and when.key == there.key:
            return then
        turned = _as_rest(then) > _as_rest(otherwise)
        if not when.facts.nullable and turned:
            branches, otherwise = [(conditions.negated(when), otherwise)], then
    parts = [part for pair in branches for part in pair]
    nullable = any(part.facts.nullable for part in (*parts[1::2], otherwise))
    facts = replace(facts, nullable=facts.nullable and nullable)
    return term("case", (*parts, otherwise), facts)


def coalesce(items: Sequence[Term], facts: Facts, conditions: Conditions) -> Term:
    """Return the first item that is not NULL."""
    flat = [
        p for item in items for p in (item.parts if _is_coalesce(item) else (item,))
    ]
    certain = (n for n, part in enumerate(flat) if not part.facts.nullable)
    parts = flat[: next(certain, len(flat)) + 1]
    kept = list({p.key: p for p in parts if not is_null_constant(p)}.values())
    if len(kept) < 2:  # noqa: PLR2004 - nothing to choose between
        return kept[0] if kept else flat[0]
    first, second = kept[0], kept[1]
    if facts.type is ColumnType.BOOLEAN and len(kept) == 2:  # noqa: PLR2004 - x, literal
        if is_truth(second, holds=False):
            return conditions.is_true(first)
        if is_truth(second, holds=True):
            opposite = conditions.is_true(conditions.negated(first))
            return conditions.negated(opposite)
    return term("coalesce", kept, facts)


def _is_coalesce(one: Term) -> bool:
    return one.head == "coalesce"
