"""Parts of dates and moments, of ages, and of the time between two of them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from privacy.schema import ColumnType, Domain, RangeDomain
from query_lang.binding.dates.shifts import time_between
from query_lang.binding.scalars.casts import midnight_of
from query_lang.plans import intervals
from query_lang.plans.dates import calendar
from query_lang.plans.expressions import Call, Constant, Expression, Facts, Function
from query_lang.plans.intervals import Interval, interval_of, range_of
from query_lang.plans.literals import constant_facts
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse

INTEGER, DATE, TIMESTAMP = ColumnType.INTEGER, ColumnType.DATE, ColumnType.TIMESTAMP
DAY_SECONDS = 86_400

_BOUNDS: Mapping[str, Interval] = {
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "doy": (1, 366),
    "dow": (0, 6),
    "isodow": (1, 7),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}
_OF_TIMESTAMPS = frozenset({"hour", "minute", "second"})
NAMES = frozenset((*_BOUNDS, "year", "isoyear", "epoch", "dayofweek"))
"""Parts by their names, ``isoweek`` and ``dayofyear`` besides."""

_SAME: Mapping[str, str] = {"isoweek": "week", "dayofyear": "doy"}
_DAY_ONE = date(1970, 1, 1)


def part(name: str, value: Expression, position: Position) -> Expression:  # noqa: PLR0911 - an arm a form
    """Bind EXTRACT of a date, a timestamp, or of what lies between two.

    Raises:
        SqlNotAllowedError: The value has no such part.
    """
    name, kind = _SAME.get(name, name), value.facts.type
    if isinstance(value, Call) and value.function is Function.TIME_BETWEEN:
        return _part_of_time(name, value, position)
    if isinstance(value, Call) and value.function is Function.DAYS_BETWEEN:
        return _part_of_days(name, value, position)
    if kind not in {DATE, TIMESTAMP} or (name in _OF_TIMESTAMPS and kind is DATE):
        raise refuse(rules.EXTRACT_OPERAND, position)
    if name == "epoch":
        return _epoch(value)
    if name == "dayofweek":  # Sunday is 1
        return added(_extract("dow", value), 1)
    return _extract(name, value)


def _extract(name: str, value: Expression) -> Call:
    known = value.facts
    facts = Facts(INTEGER, nullable=known.nullable, constant=known.constant)
    domain = _part_domain(name, known, facts)
    return Call(Function.EXTRACT, (value,), replace(facts, domain=domain), (name,))


def extracted(call: Call, value: Expression) -> Call:
    """Return the part of a day that a call is, of another value."""
    return _extract(str(call.parameters[0]), value)


def _part_domain(name: str, value: Facts, facts: Facts) -> Domain | None:
    if name in _BOUNDS:
        return range_of(_BOUNDS[name], facts)
    days = intervals.day_bounds(value)
    if days is None:
        return None
    first, last = map(intervals.day, days)
    if name == "isoyear":
        return RangeDomain(first.isocalendar()[0], last.isocalendar()[0])
    return RangeDomain(first.year, last.year)


def _epoch(value: Expression) -> Expression:
    """Return seconds since 1970: whole ones of a date, with a fraction of a moment."""
    start = Constant(_DAY_ONE, constant_facts(_DAY_ONE, DATE))
    if value.facts.type is DATE:
        return multiplied(days_between(start, value), DAY_SECONDS)
    return time_between(midnight_of(start), value, ColumnType.DECIMAL)


def _part_of_days(name: str, value: Call, position: Position) -> Expression:
    if name == "day":
        return value
    if name == "epoch":
        return multiplied(value, DAY_SECONDS)
    raise refuse(
        rules.EXTRACT_OPERAND,
        position,
        detail="the difference of two dates is a number of days",
        hint="write discharged - admitted, or completed years and months as "
        "EXTRACT(YEAR FROM AGE(admitted, born))",
    )


def _part_of_time(name: str, value: Call, position: Position) -> Expression:
    start, end = value.operands
    if name == "epoch":
        return time_between(start, end, ColumnType.DECIMAL)
    if name == "day":
        return divided(time_between(start, end, INTEGER), calendar.DAY)
    raise refuse(
        rules.EXTRACT_OPERAND,
        position,
        detail="the time between two timestamps has DAY and EPOCH, in seconds",
        hint="compare it, departed - arrived > INTERVAL '6 hours', or count hours "
        "begun: DATE_DIFF('hour', arrived, departed)",
    )


# -- arithmetic of public constants --------------------------------------------


def _with_constant(
    function: Function, value: Expression, number: int, bounds: Interval | None
) -> Call:
    known = value.facts
    other = Constant(number, constant_facts(number, INTEGER))
    facts = Facts(INTEGER, nullable=known.nullable, constant=known.constant)
    return Call(
        function, (value, other), replace(facts, domain=range_of(bounds, facts))
    )


def added(value: Expression, number: int) -> Call:
    """Return ``value + number``."""
    own = interval_of(value.facts)
    made = None if own is None else intervals.added(own, (number, number))
    return _with_constant(Function.ADD, value, number, made)


def multiplied(value: Expression, number: int) -> Call:
    """Return ``value * number``."""
    own = interval_of(value.facts)
    made = None if own is None else intervals.multiplied(own, (number, number))
    return _with_constant(Function.MULTIPLY, value, number, made)


def divided(value: Expression, number: int) -> Call:
    """Return ``value / number``, cut towards zero; the number is not 0."""
    own = interval_of(value.facts)
    made = None if own is None else intervals.divided(own, (number, number))
    return _with_constant(Function.DIVIDE, value, number, made)


def of_two(
    function: Function, one: Expression, other: Expression, bounds: Interval | None
) -> Call:
    """Return an integer that is computed of two values, with its public bounds."""
    facts = Facts(
        INTEGER,
        nullable=one.facts.nullable or other.facts.nullable,
        constant=one.facts.constant and other.facts.constant,
    )
    return Call(function, (one, other), replace(facts, domain=range_of(bounds, facts)))


def less(one: Expression, other: Expression) -> Call:
    """Return ``one - other``."""
    first, second = interval_of(one.facts), interval_of(other.facts)
    made = None
    if first is not None and second is not None:
        made = intervals.subtracted(first, second)
    return of_two(Function.SUBTRACT, one, other, made)


def known_within(call: Call, bounds: Interval | None, name: str) -> Call:
    """Return arithmetic of which more is known than its operands show.

    Its name keeps it apart from the same arithmetic written out, which has other
    cells as a key.
    """
    facts = replace(call.facts, domain=range_of(bounds, call.facts))
    return replace(call, facts=facts, parameters=(name,))


# -- between two dates ---------------------------------------------------------


def ends_of(start: Expression, end: Expression) -> tuple[Interval, Interval] | None:
    """Return the first and last day of each of two dates, where both are known."""
    first, last = interval_of(start.facts), interval_of(end.facts)
    return None if first is None or last is None else (first, last)


def days_between(start: Expression, end: Expression) -> Call:
    """Return days from one date to another."""
    ends = ends_of(start, end)
    bounds = None if ends is None else intervals.subtracted(ends[1], ends[0])
    return of_two(Function.DAYS_BETWEEN, start, end, bounds)


def months_between(start: Expression, end: Expression) -> Call:
    """Return the months' beginnings that lie between two dates."""
    ends = ends_of(start, end)
    bounds = None
    if ends is not None:
        first, last = ([_month(end) for end in pair] for pair in ends)
        bounds = last[0] - first[1], last[1] - first[0]
    return of_two(Function.MONTHS_BETWEEN, start, end, bounds)


def _month(number: int) -> int:
    return intervals.months_of(intervals.day(number))


def years_between(start: Expression, end: Expression) -> Call:
    """Return the years' beginnings that lie between two dates."""
    ends = ends_of(start, end)
    bounds = None
    if ends is not None:
        first, last = ([intervals.day(end).year for end in pair] for pair in ends)
        bounds = last[0] - first[1], last[1] - first[0]
    return of_two(Function.YEARS_BETWEEN, start, end, bounds)


def may_come_before(one: Expression, other: Expression) -> bool:
    """Whether one date can come before another, as far as is known of the two."""
    ends = ends_of(one, other)
    return ends is None or ends[0][0] < ends[1][1]


def age_in_years(birth: Expression, at: Expression) -> Call:
    """Return completed years; NULL where ``at`` comes before ``birth``."""
    ends = ends_of(birth, at)
    bounds = None if ends is None else intervals.ages(*ends)
    found = of_two(Function.AGE_YEARS, birth, at, bounds)
    return replace(found, facts=replace(found.facts, nullable=True))


def age_in_months(birth: Expression, at: Expression) -> Call:
    """Return completed months; NULL where ``at`` comes before ``birth``."""
    ends = ends_of(birth, at)
    bounds = None if ends is None else calendar.ages_in_months(*ends)
    found = of_two(Function.AGE_MONTHS, birth, at, bounds)
    return replace(found, facts=replace(found.facts, nullable=True))


def part_of_age(
    name: str, birth: Expression, at: Expression, position: Position
) -> Expression:
    """Bind EXTRACT(YEAR | MONTH FROM AGE(at, birth)).

    Raises:
        SqlNotAllowedError: Another part: days within a month have no fixed length.
    """
    if name == "year":
        return age_in_years(birth, at)
    if name == "month":  # those after the last completed year
        months = age_in_months(birth, at)
        rest = less(months, multiplied(age_in_years(birth, at), 12))
        return known_within(rest, (0, 11), "month of an age")
    raise refuse(
        rules.EXTRACT_OPERAND,
        position,
        detail="an age has completed years and months",
        hint="write EXTRACT(YEAR FROM AGE(admitted, born)), or days as admitted - born",
    )


def weeks_between(first: Expression, last: Expression) -> Call:
    """Return weeks between two days that begin weeks."""
    return divided(days_between(first, last), 7)


def quarters_between(start: Expression, end: Expression) -> Call:
    """Return the quarters' beginnings that lie between two dates."""
    years = multiplied(years_between(start, end), 4)
    first, last = _extract("quarter", start), _extract("quarter", end)
    ends = ends_of(start, end)
    bounds = None
    if ends is not None:
        one, other = ([(_month(end)) // 3 for end in pair] for pair in ends)
        bounds = other[0] - one[1], other[1] - one[0]
    found = of_two(Function.ADD, years, less(last, first), None)
    return known_within(found, bounds, "quarters")


def units_between(start: Expression, end: Expression, length: int) -> Call:
    """Return the beginnings of hours, minutes or seconds between two moments.

    Counted from the first moment of the calendar, so that none is negative.

    Args:
        start: A date or a timestamp.
        end: Likewise.
        length: Of the unit, in microseconds.
    """
    first = intervals.midnight(date.min)
    origin = Constant(first, constant_facts(first, TIMESTAMP))
    counted = [
        divided(time_between(origin, midnight_of(value), INTEGER), length)
        for value in (start, end)
    ]
    return less(counted[1], counted[0])


def units_elapsed(start: Expression, end: Expression, length: int) -> Call:
    """Return whole units of time from one moment to another, cut towards zero."""
    between = time_between(midnight_of(start), midnight_of(end), INTEGER)
    return divided(between, length)
