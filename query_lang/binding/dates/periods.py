"""Periods that days lie in, as dates and as texts: DATE_TRUNC, TO_CHAR, FORMAT_DATE."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from itertools import pairwise

from privacy.schema import ColumnType, Domain, ValuesDomain
from query_lang.binding.dates.shifts import by_days, folded
from query_lang.binding.scalars.casts import date_of
from query_lang.plans import intervals
from query_lang.plans.dates import calendar
from query_lang.plans.dates.day_names import NAMES
from query_lang.plans.domains import MAX_LISTED
from query_lang.plans.expressions import Call, Constant, Expression, Facts, Function
from query_lang.plans.intervals import Interval, range_of
from query_lang.plans.literals import constant_facts
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse

UNITS = frozenset({"day", "week", "month", "quarter", "year"})
SUNDAY_WEEK = "sunday week"
"""BigQuery's WEEK, which begins on Sunday."""

_NAMES = "|".join(sorted(NAMES, key=len, reverse=True))
_POSTGRES = re.compile(rf"{_NAMES}|IYYY|YYYY|IW|MM|DD|Q|[-/. _,]|\"[^\"%]*\"", re.ASCII)
_PERCENT = re.compile(r"%[YmdGVQFAaBbh]|[-/. _,]|(?<![A-Z])[A-Z](?![A-Z])", re.ASCII)
_OTHERS: Mapping[str, str] = {  # of DATE_FORMAT: Spark and SQL Server, MySQL
    "yyyy": "YYYY",
    "dd": "DD",
    "MMMM": "FMMonth",
    "MMM": "Mon",
    **dict.fromkeys(("EEEE", "dddd"), "FMDay"),
    **dict.fromkeys(("E", "EE", "EEE", "ddd"), "Dy"),
    "%W": "%A",
    "%M": "%B",
    "%x": "%G",
    "%v": "%V",
    # What others read otherwise: weeks from Sunday, hours, the letter itself, years of
    # weeks, days of the year.
    **dict.fromkeys(("%V", "%h", "%A", "%B", "%F", "%G", "%Q"), "%?"),
    **dict.fromkeys(("YYYY", "DD"), "?"),
}
_OTHERS_HINT = (
    "DATE_FORMAT(admitted, '%Y-%m-%d') or 'yyyy-MM-dd', with %M, %b or MMMM for the "
    "month's name and %W or EEEE for the day's; %x-%v are the ISO year and week"
)
_DIGITS = "a number with zeros in front is LPAD(CAST(age AS TEXT), 3, '0')"
_SMALL: Mapping[str, str] = {"yyyy": "YYYY", "dd": "DD"}  # so written elsewhere, too
_RUN = re.compile(r"\"[^\"]*\"|%?([A-Za-z])\1*")  # one letter, so often as it stands
_PERCENT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "%Y": ("YYYY",),
    "%m": ("MM",),
    "%d": ("DD",),
    "%G": ("IYYY",),
    "%V": ("IW",),
    "%Q": ("Q",),
    "%F": ("YYYY", "'-", "MM", "'-", "DD"),
    "%A": ("FMDay",),
    "%a": ("Dy",),
    "%B": ("FMMonth",),
    "%b": ("Mon",),
    "%h": ("Mon",),
}


def period(unit: str, value: Expression) -> Expression:
    """Return the first day of the period that a date or moment lies in.

    Its domain lists one day for each period of the declared days, in order.

    Args:
        unit: One of ``UNITS`` or ``SUNDAY_WEEK``.
        value: A date or a timestamp.
    """
    moment = date_of(value)
    if unit == "day":
        return moment
    known = moment.facts
    days = intervals.day_bounds(known)
    if unit == SUNDAY_WEEK:
        return _sunday(moment, days)
    facts = replace(known, domain=None if days is None else _starts(days, unit))
    return folded(Call(Function.PERIOD, (moment,), facts, (unit,)))


def _starts(days: Interval, unit: str) -> Domain | None:
    first, last = (calendar.period_start(intervals.day(end), unit) for end in days)
    known = intervals.grid_value(first), intervals.grid_value(last)
    if calendar.periods_within(known, unit) >= MAX_LISTED:
        facts = Facts(ColumnType.DATE)
        return range_of(known, facts)
    return ValuesDomain(tuple(calendar.period_starts(days, unit)))


def _sunday(moment: Expression, days: Interval | None) -> Expression:
    """Return the last Sunday: as many days back as the day's number from Sunday."""
    known = moment.facts
    facts = Facts(ColumnType.INTEGER, nullable=known.nullable, constant=known.constant)
    facts = replace(facts, domain=range_of((0, 6), facts))
    number = Call(Function.EXTRACT, (moment,), facts, ("dow",))
    found = by_days(Function.SUBTRACT_DAYS, moment, number)
    if not isinstance(found, Call):
        return found
    domain = None if days is None else _sundays(days)
    known = replace(found.facts, domain=domain)
    return folded(replace(found, facts=known, parameters=("week",)))


def _sundays(days: Interval) -> Domain | None:
    low, high = (end - intervals.day(end).isoweekday() % 7 for end in days)
    low += 7 if low < intervals.MIN_DAY else 0
    if low > high:
        return None
    if (high - low) // 7 >= MAX_LISTED:
        return range_of((low, high), Facts(ColumnType.DATE))
    return ValuesDomain(tuple(map(intervals.day, range(low, high + 1, 7))))


def month_end(first: Expression) -> Expression:
    """Return the last day of the month that begins with a day: 27 to 30 days later."""
    known = first.facts
    listed = known.domain
    domain: Domain | None = None
    if isinstance(listed, ValuesDomain):
        days = (day for day in listed.values if isinstance(day, date))
        domain = ValuesDomain(tuple(map(calendar.last_of_month, days)))
    elif (bounds := intervals.day_bounds(known)) is not None:
        last = calendar.last_of_month(intervals.day(bounds[1]))
        domain = range_of((bounds[0] + 27, intervals.grid_value(last)), known)
    facts = replace(known, domain=domain)
    return folded(Call(Function.LAST_OF_MONTH, (first,), facts))


# -- texts ---------------------------------------------------------------------


def pieces_of(
    pattern: str, position: Position, *, others: bool = False
) -> tuple[str, ...]:
    """Return the fields and other texts of a pattern of either kind.

    Args:
        pattern: PostgreSQL's ``YYYY-MM`` or, with a percent sign, ``%Y-%m``.
        position: Of the pattern.
        others: Whether names stand alone as MySQL, Spark and SQL Server write them.

    Raises:
        SqlNotAllowedError: Rule ``date_format``: it has another field.
    """
    form = _PERCENT if "%" in pattern else _POSTGRES
    hint = _OTHERS_HINT if others else _DIGITS if "0" in pattern else None
    known = _OTHERS if others else _SMALL if "yyyy" in pattern else {}
    pattern = _RUN.sub(lambda found: known.get(found[0], found[0]), pattern)
    found, at = list[str](), 0
    while at < len(pattern):
        part = form.match(pattern, at)
        if part is None:
            raise refuse(rules.DATE_FORMAT, position, hint=hint)
        found += _pieces(part[0], is_percent=form is _PERCENT)
        at = part.end()
    same = any(one == other for one, other in pairwise(found))
    if not calendar.FIELDS & set(found) or same:  # DDDD is no day twice
        raise refuse(rules.DATE_FORMAT, position, hint=hint)
    return tuple(found)


def _pieces(part: str, *, is_percent: bool) -> tuple[str, ...]:
    text = calendar.TEXT + part.strip('"')
    if is_percent:
        return _PERCENT_FIELDS.get(part, (text,))
    return (part if part in calendar.FIELDS else text,)


def written(pieces: tuple[str, ...], value: Expression) -> Expression:
    """Return the text of a day, whose domain lists the texts of the declared days."""
    moment = date_of(value)
    known = moment.facts
    days = intervals.day_bounds(known)
    domain = None if days is None else _texts(pieces, days)
    facts = Facts(ColumnType.TEXT, 0, known.nullable, known.constant, domain)
    call = Call(Function.WRITTEN_DAY, (moment,), facts, pieces)
    if isinstance(moment, Constant) and isinstance(domain, ValuesDomain):
        (text,) = domain.values
        return Constant(text, constant_facts(text, ColumnType.TEXT))
    return call


def _texts(pieces: tuple[str, ...], days: Interval) -> Domain | None:
    """List the texts in the order of the days; those that come again, sorted."""
    unit = calendar.written_period(pieces)
    all_seen = calendar.comes_again(pieces)
    if all_seen is not None:
        days = days[0], min(days[1], days[0] + all_seen - 1)
    if calendar.periods_within(days, unit) >= MAX_LISTED:
        return None
    starts = list(calendar.period_starts(days, unit))
    first, last = map(intervals.day, days)
    seen = [min(last, max(first, start)) for start in starts]
    texts = [calendar.written_day(day, pieces) for day in seen]
    places = {
        text: calendar.order_of(day, pieces)
        for text, day in zip(texts, seen, strict=True)
    }
    if len(places) == len(texts) and all_seen is None:
        return ValuesDomain(tuple(texts))
    listed = sorted((place, text) for text, place in places.items())
    return ValuesDomain(tuple(text for _, text in listed))
