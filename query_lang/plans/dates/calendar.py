"""The calendar of years 1 to 9999: periods that days begin, months, texts of days.

Source: CONTRACT 1. Pure functions of public values; an engine's rendering of each is
held against them by tests/conformance. Proof of bounds and lists: docs/proofs/dates.md.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Final

from privacy.schema import ColumnType, RangeDomain, ValuesDomain
from query_lang.plans import intervals
from query_lang.plans.dates.day_names import NAMES, WEEKDAYS
from query_lang.plans.expressions import Facts, HalfRange
from query_lang.plans.intervals import (
    MAX_DAY,
    MIN_DAY,
    UNKNOWN,
    Interval,
    Reach,
    day,
    grid_value,
)

FIRST_MONTH, LAST_MONTH = 12, 9_999 * 12 + 11
"""Months counted from year 0: January of year 1, December of year 9999."""

FAR_MONTHS = LAST_MONTH - FIRST_MONTH + 1
"""Months that move any date out of years 1 to 9999."""

SECOND, MINUTE, HOUR, DAY = 10**6, 60 * 10**6, 3_600 * 10**6, 86_400 * 10**6
"""Lengths in microseconds."""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - timestamps have no zone
_MICROSECOND = timedelta(microseconds=1)


def microseconds_of(moment: datetime) -> int:
    """Return microseconds since 1970.

    >>> microseconds_of(datetime(1969, 12, 31, 23, 59, 59))
    -1000000
    """
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(microseconds: int) -> datetime:
    """Return the moment of a number of microseconds since 1970."""
    return _EPOCH + microseconds * _MICROSECOND


MIN_MOMENT = microseconds_of(datetime.min)  # noqa: DTZ901 - timestamps have no zone
MAX_MOMENT = microseconds_of(datetime.max)  # noqa: DTZ901
FAR = MAX_MOMENT - MIN_MOMENT + 1
"""Microseconds that move any moment out of years 1 to 9999."""


def moment_bounds(facts: Facts) -> Interval | None:
    """Return the first and last moment in microseconds since 1970."""
    match facts.domain:
        case RangeDomain(datetime() as low, datetime() as high):
            return microseconds_of(low), microseconds_of(high)
        case ValuesDomain(values) if values:
            found = [v for v in values if isinstance(v, datetime)]
            steps = [microseconds_of(moment) for moment in found]
            return (min(steps), max(steps)) if steps else None
        case _:
            return None


def reach_of(facts: Facts) -> Reach:
    """Return the bounds of a value, dates in days, moments in microseconds."""
    if facts.type is ColumnType.TIMESTAMP:
        return moment_bounds(facts) or UNKNOWN
    return intervals.reach_of(facts)


def domain_of(reach: Reach, facts: Facts) -> RangeDomain | HalfRange | None:
    """Return a domain of a value with these bounds; of a moment both must be known."""
    if facts.type is not ColumnType.TIMESTAMP:
        return intervals.domain_of(reach, facts)
    low, high = reach
    if low is None or high is None:
        return None
    return RangeDomain(moment_of(low), moment_of(high))


# -- periods -------------------------------------------------------------------


def _month(moment: date) -> date:
    return moment.replace(day=1)


def _quarter(moment: date) -> date:
    return moment.replace(month=(moment.month - 1) // 3 * 3 + 1, day=1)


def _week(moment: date) -> date:
    return moment - timedelta(days=moment.isoweekday() - 1)


_BEGINNINGS: Mapping[str, Callable[[date], date]] = {
    "day": lambda moment: moment,
    "week": _week,
    "month": _month,
    "quarter": _quarter,
    "year": lambda moment: moment.replace(month=1, day=1),
}
_STEPS: Mapping[str, int] = {"day": 1, "week": 7, "month": 31, "quarter": 92}


def period_start(moment: date, unit: str) -> date:
    """Return the first day of a date's period; weeks begin on Monday.

    >>> period_start(date(2024, 5, 17), "quarter")
    datetime.date(2024, 4, 1)
    """
    return _BEGINNINGS[unit](moment)


def period_starts(days: Interval, unit: str) -> Iterator[date]:
    """Yield the first days of all periods that some days lie in, in order."""
    start, last = period_start(day(days[0]), unit), day(days[1])
    while True:
        yield start
        ahead = grid_value(start) + _STEPS.get(unit, 366)
        ahead = min(ahead, MAX_DAY)
        following = period_start(day(ahead), unit)
        if following > last or following == start:
            return
        start = following


# -- months --------------------------------------------------------------------


def months_added(moment: date, months: int) -> date | None:
    """Return a date so many months later; None outside years 1 to 9999.

    A day that the month has not becomes its last.

    >>> months_added(date(2024, 1, 31), 1)
    datetime.date(2024, 2, 29)
    """
    number = moment.year * 12 + moment.month - 1 + months
    if not FIRST_MONTH <= number <= LAST_MONTH:
        return None
    year, month = divmod(number, 12)
    return moment.replace(
        year=year, month=month + 1, day=min(moment.day, _days_in(year, month + 1))
    )


def last_of_month(moment: date) -> date:
    """Return the last day of a date's month."""
    return moment.replace(day=_days_in(moment.year, moment.month))


def _days_in(year: int, month: int) -> int:
    if month == 12:  # noqa: PLR2004 - December
        return 31
    first, following = date(year, month, 1), date(year, month + 1, 1)
    return (following - first).days


def months_shifted(days: Interval, months: Interval) -> Interval | None:
    """Return the bounds of a date plus months, within years 1 to 9999; None if none.

    A date plus months never decreases in either.
    """
    ends: list[int] = []
    for start, by, beyond in (
        (days[0], months[0], MIN_DAY),
        (days[1], months[1], MAX_DAY),
    ):
        moved = months_added(day(start), by)
        ends.append(beyond if moved is None else grid_value(moved))
    number = [day(end).year * 12 + day(end).month - 1 for end in days]
    if number[0] + months[0] > LAST_MONTH or number[1] + months[1] < FIRST_MONTH:
        return None
    return ends[0], ends[1]


def completed_months(birth: date, at: date) -> int:
    """Return full months from ``birth`` to ``at``, which is not before it.

    >>> completed_months(date(2024, 1, 31), date(2024, 2, 29))
    0
    """
    months = (at.year - birth.year) * 12 + at.month - birth.month
    return months - (at.day < birth.day)


def ages_in_months(birth: Interval, at: Interval) -> Interval | None:
    """Return the bounds of completed months; None where ``at`` is always before.

    Completed months decrease with the day of birth, and increase with the other.
    """
    if at[1] < birth[0]:
        return None
    youngest = completed_months(day(birth[1]), day(at[0])) if at[0] >= birth[1] else 0
    return max(0, youngest), completed_months(day(birth[0]), day(at[1]))


# -- texts ---------------------------------------------------------------------

_WRITTEN: Mapping[str, Callable[[date], str]] = {
    "YYYY": lambda moment: f"{moment.year:04}",
    "Q": lambda moment: str((moment.month + 2) // 3),
    "MM": lambda moment: f"{moment.month:02}",
    "DD": lambda moment: f"{moment.day:02}",
    "IYYY": lambda moment: f"{moment.isocalendar()[0]:04}",
    "IW": lambda moment: f"{moment.isocalendar()[1]:02}",
    **{field: name.of for field, name in NAMES.items()},
}
FIELDS = frozenset(_WRITTEN)
"""Parts of a day that texts are made of, by PostgreSQL's names."""

_OF_WEEKS = frozenset({"IYYY", "IW"})
_FINEST = (
    ("DD", "day"),
    ("IW", "week"),
    ("IYYY", "week"),
    ("MM", "month"),
    ("Q", "quarter"),
)


TEXT = "'"
"""What a piece begins with that is no field but stands as it is."""


def written_day(moment: date, pieces: tuple[str, ...]) -> str:
    """Return the text of a day: its fields, and all else as it stands.

    >>> written_day(date(2024, 5, 1), ("YYYY", "'-", "MM"))
    '2024-05'
    """
    return "".join(
        piece.removeprefix(TEXT) if piece.startswith(TEXT) else _WRITTEN[piece](moment)
        for piece in pieces
    )


def written_period(pieces: tuple[str, ...]) -> str:
    """Return the longest period within which a text of days is one and the same."""
    fields = FIELDS.intersection(pieces)
    if fields & _OF_WEEKS and fields - _OF_WEEKS:  # months begin within weeks
        return "day"
    named = {NAMES[field].unit for field in fields & NAMES.keys()}
    if "weekday" in named:
        return "day"
    fields |= {"MM"} if "month" in named else set()
    return next((unit for field, unit in _FINEST if field in fields), "year")


_SHORTEST: Final = {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}


def periods_within(days: Interval, unit: str) -> int:
    """Return a bound of how many periods begin between two days, one less."""
    return (days[1] - days[0]) // _SHORTEST[unit]


def comes_again(pieces: tuple[str, ...]) -> int | None:
    """Return after how many days at most every text of days has come, if it has."""
    fields = FIELDS.intersection(pieces)
    if {NAMES[f].unit if f in NAMES else f for f in fields} == {"weekday"}:
        return len(WEEKDAYS)
    return None


def order_of(moment: date, pieces: tuple[str, ...]) -> tuple[int, int]:
    """Return where a text that comes again stands: names in the calendar's order."""
    units = {NAMES[field].unit for field in NAMES.keys() & set(pieces)}
    month = moment.month if "month" in units else 0
    return month, moment.isoweekday() if "weekday" in units else 0
