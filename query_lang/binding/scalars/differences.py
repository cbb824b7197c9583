"""Differences of two values of a row, and what comparisons of the two say of them.

``reminded BETWEEN invited AND invited + 90`` bounds ``reminded - invited``, which it
does not name. Each side of a comparison, and each of a difference, is read as one value
and how far beside it the side lies: ``invited + 90`` is ``invited`` and 90 days. Where
both are about the same two values, the one bounds the other. Proof: docs/proofs/sum.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from privacy.schema import ColumnType
from query_lang.binding.sizes import Tries
from query_lang.plans.dates.calendar import DAY
from query_lang.plans.expressions import Call, Constant, Expression, Function
from query_lang.plans.intervals import (
    MAX_INTEGER,
    MIN_INTEGER,
    UNKNOWN,
    Interval,
    Reach,
    interval_of,
    met,
    saturate,
)

_Number = int | Fraction
Ends = tuple[_Number | None, _Number | None]
"""How far one value lies beyond another at least, and at most, where it is known.

Of dates and moments in microseconds, a date being its midnight; of numbers in ones.
"""

_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_MOMENTS = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})


@dataclass(frozen=True, slots=True)
class Beside:
    """A value that lies from ``least`` to ``most`` beyond another one of its row.

    Attributes:
        base: The number of the other value.
        least: The least that is added to it.
        most: The most.
        may_end: Whether it can be NULL where the other is not: days end.
    """

    base: int
    least: _Number
    most: _Number
    may_end: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that goes by how far one value of a row lies beyond another.

    Attributes:
        last: What is subtracted from.
        first: What is subtracted.
        counted: Makes bounds of the value of those of the difference.
    """

    last: Beside
    first: Beside
    counted: Callable[[Ends], Reach]

    def where(self, one: Beside, other: Beside, ends: Ends) -> Reach:
        """Return its bounds where one value lies so far beyond another."""
        low, high = _widened(ends, other.least - one.most, other.most - one.least)
        if (one.base, other.base) == (self.first.base, self.last.base):
            low, high = None if high is None else -high, None if low is None else -low
        elif (one.base, other.base) != (self.last.base, self.first.base):
            return UNKNOWN
        last, first = self.last, self.first
        beyond = last.least - first.most, last.most - first.least
        return self.counted(_widened((low, high), *beyond))


def _widened(ends: Ends, least: _Number, most: _Number) -> Ends:
    low, high = ends
    return None if low is None else low + least, None if high is None else high + most


def pair_of(one: Beside, other: Beside) -> frozenset[int]:
    """Return the two values that a difference or a comparison is of."""
    return frozenset((one.base, other.base))


def difference_of(value: Expression, tries: Tries) -> Difference | None:
    """Return which two values of its row a value is the difference of, if it is."""
    if not isinstance(value, Call) or len(value.operands) != 2:  # noqa: PLR2004 - of two
        return None
    one, other = value.operands
    if value.function is Function.SUBTRACT:
        return _hours(one, other, tries) or Difference(
            beside(one, tries),
            beside(other, tries),
            _in_steps(Fraction(10**value.facts.scale)),
        )
    counted = _COUNTED.get(value.function)
    if counted is None or {one.facts.type, other.facts.type} - _MOMENTS:
        return None
    return Difference(beside(other, tries), beside(one, tries), counted)


def is_apart(value: Expression) -> bool:
    """Whether a value is how far apart two dates or moments of a row are.

    Completed years and months are none: they are NULL where one is the earlier.
    """
    if not isinstance(value, Call) or len(value.operands) != 2:  # noqa: PLR2004 - of two
        return False
    one, other = value.operands
    if value.function is Function.SUBTRACT:
        parts = _begun(one), _begun(other)
        return None not in parts and not any(
            isinstance(part[0], Constant) for part in parts if part is not None
        )
    return value.function in _APART and not any(
        isinstance(each, Constant) for each in value.operands
    )


_APART = frozenset(
    (
        *(Function.DAYS_BETWEEN, Function.TIME_BETWEEN),
        *(Function.MONTHS_BETWEEN, Function.YEARS_BETWEEN),
    )
)


def _hours(one: Expression, other: Expression, tries: Tries) -> Difference | None:
    """Return hours, minutes or seconds begun between two moments."""
    last, first = _begun(one), _begun(other)
    if last is None or first is None or last[1] != first[1]:
        return None
    length = last[1]
    ends = (beside(moment, tries) for moment, _ in (last, first))
    parts = [Beside(end.base, end.least - length + 1, end.most) for end in ends]
    return Difference(parts[0], parts[1], _in_steps(Fraction(1, length)))


def _begun(value: Expression) -> tuple[Expression, int] | None:
    """Return of which moment hours are counted, and how long one of them is.

    From the first moment of the calendar on, as ``dates.parts.units_between`` does.
    """
    if not isinstance(value, Call) or value.function is not Function.DIVIDE:
        return None
    whole, length = value.operands
    if not isinstance(whole, Call) or whole.function is not Function.TIME_BETWEEN:
        return None
    start, moment = whole.operands
    if not isinstance(start, Constant) or not isinstance(length, Constant):
        return None
    each = length.value
    return (moment, each) if isinstance(each, int) and each > 0 else None


# -- one value beside another --------------------------------------------------


def beside(value: Expression, tries: Tries) -> Beside:
    """Return what a value lies beside; of most values itself.

    A day or moment out of the calendar is NULL. What saturates is read no further.
    """
    least: _Number = 0
    most: _Number = 0
    may_end = False
    while isinstance(value, Call):
        found = _read(value)
        if found is None:
            break
        may_end = may_end or value.function in _ENDING
        value, (low, high) = found
        least, most = least + low, most + high
    return Beside(tries.number(value), least, most, may_end)


_ENDING = frozenset(
    (
        *(Function.ADD_DAYS, Function.SUBTRACT_DAYS),
        *(Function.ADD_MONTHS, Function.ADD_MICROSECONDS),
    )
)


def _read(value: Call) -> tuple[Expression, tuple[_Number, _Number]] | None:  # noqa: C901, PLR0911, PLR0912 - an arm a form
    first, *others = value.operands
    by = interval_of(others[0].facts) if len(others) == 1 else None
    match value.function:
        case Function.MIDNIGHT_OF:
            return first, (0, 0)
        case Function.DATE_OF:
            return first, (1 - DAY, 0)
        case Function.ADD_DAYS if by is not None:
            return first, (by[0] * DAY, by[1] * DAY)
        case Function.SUBTRACT_DAYS if by is not None:
            return first, (-by[1] * DAY, -by[0] * DAY)
        case Function.ADD_MONTHS if by is not None:
            low, high = _days(by[0])[0], _days(by[1])[1]
            return first, (low * DAY, high * DAY)
        case Function.ADD_MICROSECONDS if value.parameters == ("months",):
            return _months_later(value)
        case Function.ADD_MICROSECONDS if by is not None:
            return first, by
        case Function.RESCALE if _fits(value):
            return first, (0, 0)
        case Function.ADD | Function.SUBTRACT if by is not None and _fits(value):
            if not isinstance(others[0], Constant):
                return None
            ones = Fraction(by[0], 10**value.facts.scale)
            ones = ones if value.function is Function.ADD else -ones
            return first, (ones, ones)
        case _:
            return None


def _days(months: int) -> Interval:
    """Return how many days lie between a day and the same day of another month."""
    count = abs(months)
    least, most = 28 * count, min(31 * count, 366 * -(-count // 12))
    return (least, most) if months >= 0 else (-most, -least)


def _months_later(value: Call) -> tuple[Expression, tuple[int, int]] | None:
    """Return the moment that months were added to, which kept its time of day."""
    moved, time = value.operands
    day = moved.operands[0] if isinstance(moved, Call) else None
    if not isinstance(day, Call) or day.function is not Function.ADD_MONTHS:
        return None
    by = interval_of(day.operands[1].facts)
    if by is None or not isinstance(time, Call):
        return None
    return time.operands[1], (_days(by[0])[0] * DAY, _days(by[1])[1] * DAY)


def _fits(value: Call) -> bool:
    """Whether a number is known to lie within 64 bits of its grid, without clamping."""
    ends = interval_of(value.facts)
    return ends is not None and ends[0] > MIN_INTEGER and ends[1] < MAX_INTEGER


# -- what the bounds of a difference bound -------------------------------------


def _in_steps(steps: Fraction) -> Callable[[Ends], Reach]:
    """Return what makes bounds of so many steps a unit."""

    def counted(ends: Ends) -> Reach:
        low, high = ends
        return (
            None if low is None else saturate(ceil(low * steps)),
            None if high is None else saturate(floor(high * steps)),
        )

    return counted


_in_days = _in_steps(Fraction(1, DAY))


def _completed(longest: int, shortest: int) -> Callable[[Ends], Reach]:
    """Return what makes bounds of completed years or months; none is negative."""

    def counted(ends: Ends) -> Reach:
        low, high = _in_days(ends)
        return (
            0 if low is None else max(low, 0) // longest,
            None if high is None else max(high, 0) // shortest,
        )

    return counted


def _begun_between(longest: int, shortest: int) -> Callable[[Ends], Reach]:
    """Return what makes bounds of the years or months that begin between two days."""

    def most(days: int) -> int:
        return (days + shortest - 1) // shortest if days > 0 else -(-days // longest)

    def counted(ends: Ends) -> Reach:
        low, high = _in_days(ends)
        least = None if low is None else -most(-low)
        return least, None if high is None else most(high)

    return counted


_COUNTED: Mapping[Function, Callable[[Ends], Reach]] = {
    Function.DAYS_BETWEEN: _in_days,
    Function.TIME_BETWEEN: _in_steps(Fraction(1)),
    Function.AGE_YEARS: _completed(366, 365),
    Function.AGE_MONTHS: _completed(31, 28),
    Function.YEARS_BETWEEN: _begun_between(366, 365),
    Function.MONTHS_BETWEEN: _begun_between(31, 28),
}


# -- comparisons ---------------------------------------------------------------


def compared_pair(condition: Call, tries: Tries) -> tuple[Beside, ...] | None:
    """Return the sides of a comparison of values of a row; None of another one.

    One side of ``BETWEEN`` may be a literal: it is no value that differs from another.
    """
    if condition.function not in _COMPARING:
        return None
    kinds = {side.facts.type for side in condition.operands}
    varied = [side for side in condition.operands if not isinstance(side, Constant)]
    if len(varied) < 2 or not (kinds <= _NUMBERS or kinds <= _MOMENTS):  # noqa: PLR2004 - one beside another
        return None
    return tuple(beside(side, tries) for side in condition.operands)


def bounds_of(
    difference: Difference, condition: Call, tries: Tries, *, holds: bool, sure: bool
) -> Reach:
    """Return bounds of a difference that is not NULL where a comparison is true.

    Args:
        difference: Of two values.
        condition: What compares values.
        tries: Number expressions.
        holds: Whether it is true, or is not.
        sure: Whether it is known: beside a day out of the calendar it is unknown.
    """
    sides = compared_pair(condition, tries)
    if sides is None or (not sure and any(side.may_end for side in sides)):
        return UNKNOWN
    first, *others = sides
    function = condition.function
    if function is not Function.BETWEEN:
        found = _ends(function, _step(condition), holds=holds)
        return difference.where(first, others[0], found)
    if not holds:
        return UNKNOWN
    above = difference.where(first, others[0], (0, None))
    return met(above, difference.where(first, others[1], (None, 0))) or UNKNOWN


def _step(condition: Call) -> _Number:
    """Return how far apart two values are at least that are not equal."""
    facts = [side.facts for side in condition.operands]
    if all(known.type is ColumnType.DATE for known in facts):
        return DAY
    return Fraction(1, 10 ** max(known.scale for known in facts))


def _ends(function: Function, step: _Number, *, holds: bool) -> Ends:  # noqa: PLR0911 - an arm a form
    """Return how far the first side of a comparison lies beyond the second."""
    function = function if holds else _NEGATED.get(function, Function.NE)
    match function:
        case Function.LT:
            return None, -step
        case Function.LE:
            return None, 0
        case Function.GT:
            return step, None
        case Function.GE:
            return 0, None
        case Function.EQ:
            return 0, 0
        case _:
            return None, None


_NEGATED = {
    Function.LT: Function.GE,
    Function.LE: Function.GT,
    Function.GT: Function.LE,
    Function.GE: Function.LT,
    Function.NE: Function.EQ,
}
_COMPARING = frozenset({*_NEGATED, Function.EQ, Function.BETWEEN})
