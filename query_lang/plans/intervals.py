"""Interval arithmetic: the least interval that holds every result of an operator.

Values are integers: numbers in steps of their grid, dates as days since 1970-01-01.
Operands are taken as independent. Source: CONTRACT 3.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from privacy.schema import ColumnType, RangeDomain, Scalar, ValuesDomain
from query_lang.plans.expressions import Facts, HalfRange

Interval = tuple[int, int]
Reach = tuple[int | None, int | None]
"""The least and the greatest value, None where that end is not known."""

UNKNOWN: Reach = (None, None)

MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
_EPOCH = date(1970, 1, 1).toordinal()
MIN_DAY = date.min.toordinal() - _EPOCH
MAX_DAY = date.max.toordinal() - _EPOCH
_INTEGER_TYPES = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.DATE})


def grid_value(value: Scalar, scale: int = 0) -> int:
    """Return a number or date of a domain as an integer, rounded down to the grid.

    >>> grid_value(Decimal("1.50"), 2), grid_value(date(1970, 1, 3))
    (150, 2)
    """
    if isinstance(value, date):
        return value.toordinal() - _EPOCH
    if isinstance(value, int | Decimal):
        exact = Fraction(value) * 10**scale
        return int(exact.numerator // exact.denominator)
    message = "a number or a date lies on a grid"
    raise TypeError(message)


def shown_value(step: int, facts: Facts) -> Scalar:
    """Return what an integer of the grid stands for; the inverse of ``grid_value``."""
    if facts.type is ColumnType.DATE:
        return day(step)
    if facts.type is ColumnType.DECIMAL:
        return Decimal(step).scaleb(-facts.scale)
    return step


def day(number: int) -> date:
    """Return the date of a day number.

    >>> day(-1)
    datetime.date(1969, 12, 31)
    """
    return date.fromordinal(number + _EPOCH)


def interval_of(facts: Facts) -> Interval | None:
    """Return the bounds of an expression's values, or None where none are public."""
    if facts.type not in _INTEGER_TYPES:
        return None
    match facts.domain:
        case RangeDomain(low, high):
            return grid_value(low, facts.scale), grid_value(high, facts.scale)
        case ValuesDomain() as listed if listed.values:
            return _listed_interval(listed, facts.scale)
        case _:
            return None


def measured_interval(facts: Facts) -> Interval | None:
    """Return the bounds that a sum's or histogram's values are held to, or None.

    An engine computes with them in 128 bits, row by row: beyond 64 bits of the grid it
    could fail, and that would tell of the rows. So there no bounds are public.

    >>> wide = RangeDomain(0, 2**63)
    >>> measured_interval(Facts(ColumnType.INTEGER, domain=wide)) is None
    True
    """
    found = interval_of(facts)
    if found is None or not MIN_INTEGER <= found[0] <= found[1] <= MAX_INTEGER:
        return None
    return found


@lru_cache(1_024)
def _listed_interval(domain: ValuesDomain, scale: int) -> Interval:
    steps = [grid_value(value, scale) for value in domain.values]
    return min(steps), max(steps)


def range_of(interval: Interval | None, facts: Facts) -> RangeDomain | None:
    """Return a domain of an expression with these facts that has these bounds."""
    if interval is None:
        return None
    low, high = interval
    return RangeDomain(shown_value(low, facts), shown_value(high, facts))


def reach_of(facts: Facts) -> Reach:
    """Return the bounds of an expression's values, each of them if it is public."""
    if isinstance(facts.domain, HalfRange) and facts.type in _INTEGER_TYPES:
        ends = facts.domain.minimum, facts.domain.maximum
        low, high = (None if e is None else grid_value(e, facts.scale) for e in ends)
        return low, high
    return interval_of(facts) or UNKNOWN


def domain_of(reach: Reach, facts: Facts) -> RangeDomain | HalfRange | None:
    """Return a domain of an expression with these facts that has these bounds."""
    low, high = reach
    if low is not None and high is not None:
        return range_of((low, high), facts)
    if low is None and high is None:
        return None
    least, most = (None if end is None else shown_value(end, facts) for end in reach)
    return HalfRange(least, most)


def mirrored(reach: Reach) -> Reach:
    """Return the bounds of the negative, before it is saturated.

    >>> mirrored((None, 3))
    (-3, None)
    """
    low, high = reach
    return (None if high is None else -high, None if low is None else -low)


def met(one: Reach, other: Reach) -> Reach | None:
    """Return the bounds of what lies within both; None if nothing does.

    >>> met((None, 60), (0, None))
    (0, 60)
    """
    low = max((e for e in (one[0], other[0]) if e is not None), default=None)
    high = min((e for e in (one[1], other[1]) if e is not None), default=None)
    return None if low is not None and high is not None and low > high else (low, high)


def joined(reaches: Iterable[Reach]) -> Reach:
    """Return the bounds of what lies within any of these.

    >>> joined([(0, 3), (None, 2)])
    (None, 3)
    """
    lows, highs = zip(*reaches, strict=True)
    return (
        None if None in lows else min(lows),
        None if None in highs else max(highs),
    )


def least(operands: Sequence[tuple[Reach, bool]]) -> Reach:
    """Return the bounds of the least of the operands that are not NULL.

    No operand that is never NULL is below the result, and where each can be NULL any
    one may be alone. Operands: bounds, and whether NULL can be among the values.

    >>> least([((None, None), True), ((60, 60), False)])
    (None, 60)
    """
    low, most = joined(reach for reach, _ in operands)
    sure = [
        high for (_, high), nullable in operands if not nullable and high is not None
    ]
    return low, min(sure) if sure else most


def greatest(operands: Sequence[tuple[Reach, bool]]) -> Reach:
    """Return the bounds of the greatest of the operands that are not NULL.

    >>> greatest([((None, 60), False), ((0, 0), False)])
    (0, 60)
    """
    return mirrored(
        least([(mirrored(reach), nullable) for reach, nullable in operands])
    )


def saturate(value: int) -> int:
    """Clamp to 64 bits."""
    return max(MIN_INTEGER, min(MAX_INTEGER, value))


def _corners(
    operate: Callable[[int, int], int], left: Iterable[int], right: Iterable[int]
) -> Interval:
    found = [saturate(operate(a, b)) for a in left for b in tuple(right)]
    return min(found), max(found)


def added(left: Interval, right: Interval) -> Interval:
    """Return the bounds of ``left + right``, saturated."""
    return saturate(left[0] + right[0]), saturate(left[1] + right[1])


def subtracted(left: Interval, right: Interval) -> Interval:
    """Return the bounds of ``left - right``, saturated."""
    return saturate(left[0] - right[1]), saturate(left[1] - right[0])


def multiplied(left: Interval, right: Interval) -> Interval:
    """Return the bounds of ``left * right``, saturated.

    >>> multiplied((-2, 3), (-5, 4))
    (-15, 12)
    """
    return _corners(lambda a, b: a * b, left, right)


def negated(value: Interval) -> Interval:
    """Return the bounds of ``-value``, saturated."""
    return saturate(-value[1]), saturate(-value[0])


def cut_division(dividend: int, divisor: int) -> int:
    """Divide and cut towards zero.

    >>> cut_division(-7, 2)
    -3
    """
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def divided(
    left: Interval, right: Interval, operate: Callable[[int, int], int] = cut_division
) -> Interval:
    """Return the bounds of ``left / right``; (0, 0) where all are NULL.

    The quotient is monotone in each operand on each side of zero, so that its extremes
    lie at the ends of the divisor's positive and negative parts.

    >>> divided((-10, 7), (-1, 3))
    (-10, 10)
    """
    low, high = right
    divisors = {
        divisor
        for divisor in (low, high, -1, 1)
        if divisor != 0 and low <= divisor <= high
    }
    if not divisors:
        return 0, 0
    dividends = {*left, *({0} if left[0] <= 0 <= left[1] else ())}
    return _corners(operate, dividends, divisors)


def summed(value: Interval, rows: int) -> Interval:
    """Return the bounds of a roll-up's SUM over 1 to ``rows`` values, saturated.

    >>> summed((2, 5), 3), summed((-2, 5), 3)
    ((2, 15), (-6, 15))
    """
    low, high = value
    return saturate(min(low, rows * low)), saturate(max(high, rows * high))


def day_shifted(days: Interval, shift: Interval) -> Interval | None:
    """Return the bounds of a date plus days, within years 1 to 9999; None if none."""
    low = max(MIN_DAY, days[0] + shift[0])
    high = min(MAX_DAY, days[1] + shift[1])
    return (low, high) if low <= high else None


def months_of(moment: date) -> int:
    """Return the number of a date's month, counted from year 0."""
    return moment.year * 12 + moment.month - 1


def completed_years(birth: date, at: date) -> int:
    """Return full years from ``birth`` to ``at``, which is not before it."""
    before = (at.month, at.day) < (birth.month, birth.day)
    return at.year - birth.year - before


def ages(birth: Interval, at: Interval) -> Interval | None:
    """Return the bounds of ``age_years``; None where ``at`` is always before."""
    if at[1] < birth[0]:
        return None
    youngest = completed_years(day(birth[1]), day(at[0])) if at[0] >= birth[1] else 0
    return youngest, completed_years(day(birth[0]), day(at[1]))


# -- grids and moments ---------------------------------------------------------


def rescaled(step: int, scale: int, wanted: int) -> int:
    """Return a number of one grid on another, rounded half away from zero.

    >>> rescaled(-25, 1, 0), rescaled(3, 0, 2)
    (-3, 300)
    """
    width: int = 10 ** abs(scale - wanted)
    if wanted >= scale:
        return step * width
    rounded = (2 * abs(step) + width) // (2 * width)
    return -rounded if step < 0 else rounded


def held(value: Interval) -> Interval | None:
    """Return the part of an interval that 64 bits hold, or None."""
    low, high = max(MIN_INTEGER, value[0]), min(MAX_INTEGER, value[1])
    return (low, high) if low <= high else None


def day_bounds(facts: Facts) -> Interval | None:
    """Return the first and last day of dates or timestamps."""
    match facts.domain:
        case RangeDomain(low, high):
            return grid_value(low), grid_value(high)
        case ValuesDomain(values) if values:
            days = [grid_value(value) for value in values]
            return min(days), max(days)
        case _:
            return None


def midnight(moment: date) -> datetime:
    """Return the moment that a day begins with."""
    return datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - no zone
