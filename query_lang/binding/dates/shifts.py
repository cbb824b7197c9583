"""Dates and moments moved by lengths of time, and compared with them."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from privacy.schema import ColumnType, Domain, RangeDomain, Scalar, ValuesDomain
from query_lang.binding.dates.amounts import Amount
from query_lang.binding.scalars.casts import date_of, midnight_of
from query_lang.plans import intervals
from query_lang.plans.dates import calendar
from query_lang.plans.expressions import Call, Constant, Expression, Facts, Function
from query_lang.plans.intervals import Interval, interval_of, range_of
from query_lang.plans.literals import constant_facts
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse

DATE, INTEGER, TIMESTAMP = ColumnType.DATE, ColumnType.INTEGER, ColumnType.TIMESTAMP
_A_DAY = RangeDomain(0, calendar.DAY - 1)
SECONDS_SCALE = 6
"""Decimals of seconds between moments: microseconds are their steps."""


def shifted(value: Expression, amount: Amount, position: Position) -> Expression:
    """Return a date or moment that lies an amount later.

    A date stays a date while no hours are added, else its midnight is moved.

    Raises:
        SqlNotAllowedError: Rule ``interval``: it is no date and no moment.
    """
    if value.facts.type not in {DATE, TIMESTAMP}:
        detail = "an interval is added to a date or a timestamp"
        raise refuse(rules.INTERVAL, position, detail=detail)
    moved = value
    if amount.months:
        moved = _by_months(moved, _number(amount, amount.months))
    if amount.days:
        moved = _by_days(moved, _number(amount, amount.days))
    if amount.microseconds:
        number = _number(amount, amount.microseconds)
        moved = _by(Function.ADD_MICROSECONDS, midnight_of(moved), number)
    return moved


def by_days(function: Function, moment: Expression, days: Expression) -> Expression:
    """Return ``moment + days`` or ``moment - days``."""

    def bounds(start: Interval, by: Interval) -> Interval | None:
        signed = by if function is Function.ADD_DAYS else (-by[1], -by[0])
        return intervals.day_shifted(start, signed)

    facts = Facts(DATE, constant=moment.facts.constant and days.facts.constant)
    first, second = interval_of(moment.facts), interval_of(days.facts)
    made = None if first is None or second is None else bounds(first, second)
    domain = range_of(made, facts)
    return folded(Call(function, (moment, days), replace(facts, domain=domain)))


def _by_months(moment: Expression, months: Expression) -> Expression:
    """Add months to a date, or to the day of a moment, which keeps its time."""
    if moment.facts.type is DATE:
        return _by(Function.ADD_MONTHS, moment, months)
    day = date_of(moment)
    moved = midnight_of(_by(Function.ADD_MONTHS, day, months))
    time = time_between(midnight_of(day), moment, INTEGER)
    time = replace(time, facts=replace(time.facts, domain=_A_DAY))
    found = _by(Function.ADD_MICROSECONDS, moved, time)
    by = interval_of(months.facts)
    domain = None if by is None else _months_domain(moment.facts, by)
    if not isinstance(found, Call):
        return found
    known = replace(found.facts, domain=domain)
    return replace(found, facts=known, parameters=("months",))


def _by_days(moment: Expression, days: Expression) -> Expression:
    """Add days to a date or a moment; a constant that goes back is subtracted."""
    if moment.facts.type is TIMESTAMP:
        return _by(Function.ADD_MICROSECONDS, moment, _scaled(days, calendar.DAY))
    if isinstance(days, Constant) and isinstance(days.value, int) and days.value < 0:
        return by_days(Function.SUBTRACT_DAYS, moment, _constant(-days.value))
    return by_days(Function.ADD_DAYS, moment, days)


def _number(amount: Amount, each: int) -> Expression:
    times = amount.times
    return _constant(each) if times is None else _scaled(times, each)


def _scaled(number: Expression, each: int) -> Expression:
    """Return an integer so many times, clamped to 64 bits."""
    if isinstance(number, Constant) and isinstance(number.value, int):
        return _constant(intervals.saturate(number.value * each))
    if each == 1:
        return number
    known = number.facts
    facts = Facts(INTEGER, nullable=known.nullable, constant=known.constant)
    own = interval_of(known)
    made = None if own is None else intervals.multiplied(own, (each, each))
    facts = replace(facts, domain=range_of(made, facts))
    return Call(Function.MULTIPLY, (number, _constant(each)), facts)


def _constant(value: int) -> Constant:
    return Constant(value, constant_facts(value, INTEGER))


def _by(function: Function, moment: Expression, number: Expression) -> Expression:
    """Move by months, or a timestamp by microseconds; NULL out of the calendar."""
    facts = Facts(
        moment.facts.type,
        constant=moment.facts.constant and number.facts.constant,
    )
    by = interval_of(number.facts)
    domain = None if by is None else _moved_domain(function, moment.facts, by)
    return folded(Call(function, (moment, number), replace(facts, domain=domain)))


def _moved_domain(function: Function, known: Facts, by: Interval) -> Domain | None:
    if function is Function.ADD_MICROSECONDS:
        return _moments(known, by)
    return _months_domain(known, by)


def _months_domain(known: Facts, by: Interval) -> Domain | None:
    days = intervals.day_bounds(known)
    moved = None if days is None else calendar.months_shifted(days, by)
    if moved is None:
        return None
    first, last = intervals.day(moved[0]), intervals.day(moved[1])
    if known.type is DATE:
        return RangeDomain(first, last)
    return RangeDomain(
        intervals.midnight(first),
        datetime.combine(last, datetime.max.time()),
    )


def _moments(known: Facts, by: Interval) -> Domain | None:
    ends = calendar.moment_bounds(known)
    if ends is None:
        return None
    low = max(calendar.MIN_MOMENT, ends[0] + by[0])
    high = min(calendar.MAX_MOMENT, ends[1] + by[1])
    if low > high:
        return None
    return RangeDomain(calendar.moment_of(low), calendar.moment_of(high))


def folded(call: Call) -> Expression:
    """Return the one value of a call of literals, else the call itself."""
    if not all(isinstance(operand, Constant) for operand in call.operands):
        return call
    match call.facts.domain:
        case RangeDomain(low, high) if low == high:
            return _literal(low, call.facts)
        case ValuesDomain((value,)):
            return _literal(value, call.facts)
        case _:
            return call


def _literal(value: Scalar, facts: Facts) -> Constant:
    return Constant(value, constant_facts(value, facts.type, facts.scale))


# -- time between --------------------------------------------------------------


def time_between(start: Expression, end: Expression, kind: ColumnType) -> Call:
    """Return microseconds between moments: as an integer, or as decimal seconds."""
    scale = SECONDS_SCALE if kind is ColumnType.DECIMAL else 0
    facts = Facts(
        kind,
        scale,
        nullable=start.facts.nullable or end.facts.nullable,
        constant=start.facts.constant and end.facts.constant,
    )
    first, last = calendar.moment_bounds(start.facts), calendar.moment_bounds(end.facts)
    known = first is not None and last is not None
    bounds = intervals.subtracted(last, first) if known and last and first else None
    domain = range_of(bounds, facts)
    return Call(
        Function.TIME_BETWEEN,
        (start, end),
        replace(facts, domain=domain),
        (kind.value,),
    )


def _as_number(facts: Facts, steps: int) -> str | None:
    """Say which number stands for a length beside a difference in a column."""
    days, rest = divmod(steps, calendar.DAY)
    if facts.type is INTEGER and not rest:
        return f"a difference of dates in a column is in days: compare it with {days}"
    seconds, rest = divmod(steps, calendar.SECOND)
    if facts.type is ColumnType.DECIMAL and facts.scale == SECONDS_SCALE and not rest:
        return (
            "a difference of timestamps in a column is in seconds: compare it with "
            f"{seconds}"
        )
    return None


def amount_beside(amount: Amount, value: Expression, position: Position) -> Constant:
    """Return an amount as the number that a difference is compared with.

    Args:
        amount: Written beside the difference.
        value: Days between dates, or seconds between timestamps.
        position: Of the amount.

    Raises:
        SqlNotAllowedError: Rule ``interval``: months have no length of their own, or
            the value is no difference.
    """
    if amount.months or amount.times is not None:
        raise refuse(
            rules.INTERVAL,
            position,
            detail="months and years have no number of days that differences compare "
            "with",
            hint="move the earlier date: discharged <= admitted + INTERVAL '3 months'",
        )
    if isinstance(value, Call) and value.function is Function.TIME_BETWEEN:
        steps = amount.days * calendar.DAY + amount.microseconds
        seconds = Decimal(steps).scaleb(-SECONDS_SCALE)
        whole = int(seconds) if seconds == int(seconds) else seconds.normalize()
        kind = INTEGER if isinstance(whole, int) else ColumnType.DECIMAL
        scale = 0 if kind is INTEGER else SECONDS_SCALE
        return Constant(whole, constant_facts(whole, kind, scale))
    is_days = isinstance(value, Call) and value.function is Function.DAYS_BETWEEN
    days, rest = divmod(amount.microseconds, calendar.DAY)
    if not is_days or rest:
        detail = "an interval is compared with the time between two dates or timestamps"
        steps = amount.days * calendar.DAY + amount.microseconds
        hint = _as_number(value.facts, steps)
        raise refuse(rules.INTERVAL, position, detail=detail, hint=hint)
    return _constant(amount.days + days)
