"""Sums of whole numbers and days, brought to one form.

A sum is written as ``a * x + b * y + c`` where no operator can saturate: then it is the
sum of the integers. Days count as integers since 1970-01-01. Proof:
docs/proofs/normal_form.md.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from privacy.schema import ColumnType
from query_lang.normalising.terms import Term, constant, term
from query_lang.plans.expressions import Facts, Function
from query_lang.plans.intervals import (
    MAX_DAY,
    MAX_INTEGER,
    MIN_DAY,
    MIN_INTEGER,
    Interval,
    grid_value,
    interval_of,
    shown_value,
)


@dataclass(frozen=True, slots=True)
class Linear:
    """``sum of coefficient * part + constant``; a part of coefficient 0 can be NULL."""

    parts: tuple[tuple[Term, int], ...]  # by key
    constant: int

    def plus(self, other: "Linear", times: int = 1) -> "Linear":
        """Return this plus ``times`` the other."""
        found = {part.key: (part, factor) for part, factor in self.parts}
        for part, factor in other.parts:
            known = found.get(part.key, (part, 0))[1]
            found[part.key] = part, known + times * factor
        ordered = tuple(found[key] for key in sorted(found))
        return Linear(ordered, self.constant + times * other.constant)


def linear_of(one: Term) -> Linear:
    """Return a whole number or day as a sum; what is no sum is one part."""
    if one.head == "linear":
        *factors, rest = one.parameters
        numbers = [int(str(factor)) for factor in factors]
        pairs = zip(one.parts, numbers, strict=True)
        return Linear(tuple(pairs), int(str(rest)))
    if one.head == "constant" and isinstance(one.value, int | date):
        return Linear((), grid_value(one.value))
    return Linear(((one, 1),), 0)


def sum_term(found: Linear, facts: Facts) -> Term:
    """Return a sum as a term of the given type."""
    if not found.parts:
        value = shown_value(found.constant, facts)
        return constant(value, replace(facts, nullable=False))
    (part, factor), *others = found.parts
    same_type = part.facts.type is facts.type
    if not others and factor == 1 and found.constant == 0 and same_type:
        return part
    factors = [str(factor) for _, factor in found.parts]
    parts = [part for part, _ in found.parts]
    nullable = any(part.facts.nullable for part in parts)
    facts = replace(facts, nullable=nullable)
    return term("linear", parts, facts, *factors, str(found.constant))


def computed_sum(  # noqa: PLR0911 - an arm a form
    function: Function, parts: Sequence[Term], facts: Facts
) -> Term | None:
    """Return a sum, difference or multiple; None where it may saturate or be no sum.

    Args:
        function: An operator of whole numbers and days.
        parts: Its operands.
        facts: Of its value.
    """
    if not _is_exact(function, parts, facts):
        return None
    one, other, zero = linear_of(parts[0]), linear_of(parts[-1]), Linear((), 0)
    match function:
        case Function.ADD | Function.ADD_DAYS:
            return sum_term(one.plus(other), facts)
        case Function.SUBTRACT | Function.SUBTRACT_DAYS:
            return sum_term(one.plus(other, -1), facts)
        case Function.DAYS_BETWEEN:
            return sum_term(other.plus(one, -1), facts)
        case Function.NEGATE:
            return sum_term(zero.plus(one, -1), facts)
        case Function.MULTIPLY if not one.parts:
            return sum_term(zero.plus(other, one.constant), facts)
        case Function.MULTIPLY if not other.parts:
            return sum_term(zero.plus(one, other.constant), facts)
        case _:
            return None


def _facts_of(parts: Sequence[Term]) -> Iterator[Facts]:
    return (part.facts for part in parts)


_DAY_SHIFTS = frozenset({Function.ADD_DAYS, Function.SUBTRACT_DAYS})


def _is_exact(function: Function, parts: Sequence[Term], facts: Facts) -> bool:
    """Whether the value is that of the integers for all public values."""
    if any(known.type is ColumnType.DECIMAL for known in (facts, *_facts_of(parts))):
        return False  # a step of it is no whole number
    if function is Function.DAYS_BETWEEN:
        return True  # no two days are so far apart that it saturates
    if function in _DAY_SHIFTS:
        return _stays_in_calendar(function, parts)
    bounds = interval_of(facts)
    return bounds is not None and MIN_INTEGER < bounds[0] <= bounds[1] < MAX_INTEGER


def _stays_in_calendar(function: Function, parts: Sequence[Term]) -> bool:
    days, shift = interval_of(parts[0].facts), interval_of(parts[1].facts)
    if days is None or shift is None:
        return False
    low, high = shift if function is Function.ADD_DAYS else (-shift[1], -shift[0])
    return days[0] + low >= MIN_DAY and days[1] + high <= MAX_DAY


def bounds_of(found: Linear) -> Interval | None:
    """Return between which integers a sum lies, or None where nothing is public."""
    low = high = found.constant
    for part, factor in found.parts:
        own = interval_of(part.facts)
        if own is None:
            return None
        ends = factor * own[0], factor * own[1]
        low, high = low + min(ends), high + max(ends)
    return low, high


def is_number(value: object) -> bool:
    """Whether a value is a number, not a truth."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def divided_ends(
    low: float, high: float, factor: int
) -> tuple[int | float, int | float]:
    """Return the integers whose ``factor`` times lies between two ends.

    >>> divided_ends(-7, 9, -2)
    (-4, 3)
    """
    if factor < 0:
        low, high, factor = -high, -low, -factor
    least = low if math.isinf(low) else math.ceil(Fraction(int(low), factor))
    most = high if math.isinf(high) else math.floor(Fraction(int(high), factor))
    return least, most
