"""Terms: expressions over numbered sources, each with a digest of what it means.

A term's key is a digest of its head, its parameters and its parts' keys, so that terms
of equal keys are the same function of the same rows. A decimal's scale is in it: equal
numbers of other scales have other digits and other limits. Terms share parts: a value
that a derived table computes once may stand in many places, and is digested once.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Final

from privacy.schema import ColumnType, Scalar
from query_lang.normalising.steps import take_steps
from query_lang.normalising.value_sets import Parameter, ValueSet
from query_lang.plans.expressions import Facts


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A total function of a row; compare keys, which leave out facts.

    Attributes:
        head: What is computed.
        parts: From what.
        parameters: Public and fixed.
        facts: What is publicly known of the values.
        key: SHA-256 of head, parameters, the parts' keys and a decimal's scale.
        value: Of a constant its value, of a condition on one operand its set.
    """

    head: str
    parts: tuple["Term", ...]
    parameters: tuple[Parameter, ...]
    facts: Facts
    key: str
    value: Scalar | ValueSet | None = None


_OF_OTHER_ROWS: Final = frozenset({"exists", "in_query", "outer"})


def digest_of(document: object) -> str:
    """Return the SHA-256 of a document's compact JSON."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def term(
    head: str, parts: Sequence[Term], facts: Facts, *parameters: Parameter
) -> Term:
    """Return the term that these make, with its key.

    It is constant within a unit where its parts are; a term without parts where its
    facts say so. What reads other rows is not.
    """
    take_steps(1 + len(parts))
    means: list[object] = [head, parameters, [part.key for part in parts]]
    if facts.type is ColumnType.DECIMAL:
        means.append(facts.scale)
    key = digest_of(means)
    if parts:
        own = head not in _OF_OTHER_ROWS and all(part.facts.constant for part in parts)
        facts = replace(facts, constant=own)
    return Term(head, tuple(parts), tuple(parameters), facts, key)


def read_as(one: Term, facts: Facts) -> Term:
    """Return a stored value with what is known of it where it is read.

    What is constant there alone, since a condition lets one row of each unit through,
    is not: conditions are no part of where a value comes from.
    """
    constant = facts.constant and one.facts.constant
    return replace(one, facts=replace(facts, constant=constant))


def constant(value: Scalar | None, facts: Facts) -> Term:
    """Return a literal; numbers that are equal, of one scale, have one key."""
    made = term("constant", (), facts, scalar_parameter(value))
    return replace(made, value=value)


def scalar_parameter(value: Scalar | None) -> Parameter:
    """Return a value as a parameter: its kind with its text, numbers exactly.

    >>> scalar_parameter(Decimal("1.50")), scalar_parameter(True)
    (['number', '3/2'], True)
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | Decimal):
        return ["number", str(Fraction(value))]
    if isinstance(value, date):
        return [type(value).__name__, value.isoformat()]
    return ["text", value]


_BOOLEAN = Facts(ColumnType.BOOLEAN, nullable=False, constant=True)


def truth(*, holds: bool) -> Term:
    """Return the condition that holds for every row, or for none."""
    return constant(holds, _BOOLEAN)


def is_truth(one: Term, *, holds: bool) -> bool:
    """Whether a term is the constant TRUE (or FALSE)."""
    return one.head == "constant" and one.value is holds


def condition_facts(*parts: Term) -> Facts:
    """Return the facts of a condition that is NULL only where a part can be."""
    return Facts(
        ColumnType.BOOLEAN, nullable=any(part.facts.nullable for part in parts)
    )
