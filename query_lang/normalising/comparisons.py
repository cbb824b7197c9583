"""Comparisons, BETWEEN, IN and LIKE: sets of one operand wherever they are.

Proof: docs/proofs/normal_form.md.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from privacy.schema import ColumnType, Scalar
from query_lang.normalising.conditions import Conditions, chain, within
from query_lang.normalising.numbers import (
    Linear,
    bounds_of,
    divided_ends,
    linear_of,
    sum_term,
)
from query_lang.normalising.steps import take_steps_of
from query_lang.normalising.terms import (
    Term,
    condition_facts,
    scalar_parameter,
    term,
    truth,
)
from query_lang.normalising.value_sets import (
    EVERYTHING,
    INFINITY,
    End,
    Interval,
    Intervals,
    NumberSet,
    TextSet,
    common,
    equal_to,
    mapped,
    point_of,
    texts_of,
    union,
    universe_of,
    up_to,
)
from query_lang.plans.expressions import Facts, Function
from query_lang.plans.intervals import MAX_DAY, MIN_DAY

_WHOLE: Final = frozenset({ColumnType.INTEGER, ColumnType.DATE})
_ORDERED: Final = _WHOLE | {ColumnType.DECIMAL, ColumnType.TIMESTAMP}
_TIME: Final = Facts(ColumnType.TIMESTAMP)
_DAY: Final = Facts(ColumnType.DATE)
_LAST_YEAR: Final = 9_999
_FLIPPED: Final[Mapping[Function, Function]] = {
    Function.EQ: Function.EQ,
    Function.NE: Function.NE,
    Function.LT: Function.GT,
    Function.LE: Function.GE,
    Function.GT: Function.LT,
    Function.GE: Function.LE,
}
_NEGATED: Final[Mapping[Function, Function]] = {
    Function.NE: Function.EQ,
    Function.GT: Function.LE,
    Function.GE: Function.LT,
}
_TEXTS: Final[Mapping[Function, Callable[[str, str], bool]]] = {
    Function.LT: lambda text, other: text < other,
    Function.LE: lambda text, other: text <= other,
    Function.PREFIX: str.startswith,
    Function.SUFFIX: str.endswith,
    Function.INFIX: lambda text, part: part in text,
}


def compared(  # noqa: PLR0911 - an arm a form
    function: Function, left: Term, right: Term, conditions: Conditions
) -> Term:
    """Return ``left function right``; NULL where a side is."""
    if left.head == "constant" and right.head != "constant":
        return compared(_FLIPPED[function], right, left, conditions)
    if function in _NEGATED:
        opposite = compared(_NEGATED[function], left, right, conditions)
        return conditions.negated(opposite)
    value = right.value
    if right.head != "constant" or isinstance(value, NumberSet | TextSet):
        return _of_two(function, left, right)
    if value is None:  # NULL is no value to compare with; nothing knows it better
        return term(str(function), (left, right), Facts(ColumnType.BOOLEAN))
    return _beside(function, left, value, conditions) or _plain(function, left, right)


def _beside(  # noqa: PLR0911 - an arm a form
    function: Function, left: Term, value: Scalar, conditions: Conditions
) -> Term | None:
    """Return a comparison with a literal as a set, None where it is none."""
    kind = left.facts.type
    if kind is ColumnType.BOOLEAN:
        if function is not Function.EQ:
            return None
        return left if value is True else conditions.negated(left)
    if kind is ColumnType.TEXT and isinstance(value, str):
        return _of_texts(function, left, value)
    if kind not in _ORDERED:
        return None
    if function is Function.EQ:
        return constrained(left, equal_to([value], left.facts))
    included = function is Function.LE
    return constrained(left, up_to(value, left.facts, included=included))


def _of_texts(function: Function, left: Term, value: str) -> Term | None:
    known = texts_of(left.facts)
    if known is None:
        is_equality = function is Function.EQ
        return within(left, TextSet.of([value], None)) if is_equality else None
    if function is Function.EQ:  # no walk through a long list for each literal
        return among(left, [value] if value in known else [])
    holds = _TEXTS[function]
    take_steps_of(len(known))
    return among(left, [text for text in known if holds(text, value)])


def _plain(function: Function, left: Term, right: Term) -> Term:
    heads = {Function.EQ: "eq", Function.LT: "lt", Function.LE: "le"}
    parts = [left, right]
    if function is Function.EQ:
        parts.sort(key=lambda part: part.key)
    return term(heads[function], parts, condition_facts(*parts))


def _of_two(function: Function, left: Term, right: Term) -> Term:
    """Return a comparison of two values: of whole numbers, a bound of a difference."""
    kinds = {left.facts.type, right.facts.type}
    if len(kinds) != 1 or not kinds <= _WHOLE:
        return _plain(function, left, right)
    difference = linear_of(left).plus(linear_of(right), -1)
    last = 0 if function is not Function.LT else -1
    low: End = 0 if function is Function.EQ else -INFINITY
    return _sum_within(difference, ((low, last),))


def between(value: Term, low: Term, high: Term, conditions: Conditions) -> Term:
    """Return ``low <= value AND value <= high``."""
    least = compared(Function.GE, value, low, conditions)
    return chain("and", (least, compared(Function.LE, value, high, conditions)))


def one_of(value: Term, items: Sequence[Term], conditions: Conditions) -> Term:
    """Return ``value IN (items)``, all of them literals."""
    parts = (compared(Function.EQ, value, item, conditions) for item in items)
    values = [item.value for item in items]
    if value.facts.type is ColumnType.TEXT:
        return among(value, [text for text in values if isinstance(text, str)])
    if value.facts.type in _ORDERED:
        scalars = [v for v in values if not isinstance(v, NumberSet | TextSet | None)]
        return constrained(value, equal_to(scalars, value.facts))
    return chain("or", parts)


def like(function: Function, value: Term, text: str) -> Term:
    """Return whether a text begins with, ends in or holds another one."""
    known = texts_of(value.facts)
    if known is None:
        return term(str(function), (value,), condition_facts(value), text)
    holds = _TEXTS[function]
    take_steps_of(len(known))
    return among(value, [each for each in known if holds(each, text)])


def among(value: Term, texts: Sequence[str]) -> Term:
    """Return ``value IN (texts)``; bands of ages are ages."""
    if value.head == "age_band":
        bands = (text.split("-") for text in texts if _is_band(value, text))
        ages = union((int(low), int(high)) for low, high in bands)
        return constrained(value.parts[0], ages)
    return within(value, TextSet.of(texts, texts_of(value.facts)))


def _is_band(value: Term, text: str) -> bool:
    """Whether a text is one of the bands of an age."""
    known = texts_of(value.facts)
    return known is not None and text in known


# -- sets of numbers, days and times ------------------------------------------


def constrained(value: Term, steps: Intervals) -> Term:
    """Return ``value IN steps``, on the grid of the value, as a set of what it is of.

    NULL where the value is.
    """
    if value.head == "linear":
        return _sum_within(linear_of(value), steps)
    if value.head == "extract" and value.parameters == (_YEAR,):
        of = _years_of_days if _is_day(value.parts[0]) else _years_of_times
        return constrained(value.parts[0], mapped(common(steps, _YEARS), of))
    if value.head == "date_of":
        return constrained(value.parts[0], mapped(common(steps, _DAYS), _times))
    return within(value, NumberSet.of(steps, universe_of(value.facts)))


_YEAR: Final = scalar_parameter("year")
_YEARS: Final[Intervals] = ((1, _LAST_YEAR),)
_DAYS: Final[Intervals] = ((MIN_DAY, MAX_DAY),)


def _is_day(value: Term) -> bool:
    return value.facts.type is ColumnType.DATE


def _years_of_days(first: End, last: End) -> Interval:
    start, end = date(int(first), 1, 1), date(int(last), 12, 31)
    return point_of(start, _DAY), point_of(end, _DAY)


def _years_of_times(first: End, last: End) -> Interval:
    start = point_of(date(int(first), 1, 1), _TIME)
    if last == _LAST_YEAR:
        return start, INFINITY
    return start, point_of(date(int(last) + 1, 1, 1), _TIME) - 1


def _times(first: End, last: End) -> Interval:
    """Return the times of some days, in half microseconds."""
    a_day = point_of(date(1970, 1, 2), _TIME)
    return first * a_day, (last + 1) * a_day - 1


def _sum_within(found: Linear, steps: Intervals) -> Term:
    """Return ``found IN steps`` with the sum's constant, sign and divisor taken out."""
    steps = mapped(
        steps, lambda low, high: (low - found.constant, high - found.constant)
    )
    if not found.parts:
        return truth(holds=any(low <= 0 <= high for low, high in steps))
    factors = [factor for _, factor in found.parts if factor]
    divisor = math.gcd(*factors) or 1
    divisor = -divisor if factors and factors[0] < 0 else divisor
    steps = mapped(steps, lambda low, high: divided_ends(low, high, divisor))
    parts = tuple((part, factor // divisor) for part, factor in found.parts)
    (part, factor), *others = parts
    if not others and factor == 1:
        return constrained(part, steps)
    facts = Facts(ColumnType.INTEGER)
    bare = Linear(parts, 0)
    bounds = bounds_of(bare) if factors else (0, 0)
    universe = EVERYTHING if bounds is None else (bounds,)
    made = sum_term(bare, facts)
    return within(replace(made, facts=_nullable(made)), NumberSet.of(steps, universe))


def _nullable(one: Term) -> Facts:
    nullable = any(part.facts.nullable for part in one.parts)
    return replace(one.facts, nullable=nullable)
