"""Dates and moments as DuckDB SQL: months, hours, periods and texts of days.

Every operand that stands several times is a short name. What could leave the calendar
is computed on whole numbers, clamped to it by value, and NULL where it was clamped.
"""

from collections.abc import Mapping

from query_lang.plans.dates.calendar import (
    FAR,
    FAR_MONTHS,
    FIRST_MONTH,
    LAST_MONTH,
    MAX_MOMENT,
    MIN_MOMENT,
    TEXT,
)
from query_lang.plans.dates.day_names import NAMES, PADDED_NAME, DayName
from query_lang.rendering.fragments import Fragment, listed

PARTS: Mapping[str, str] = {"dow": "dayofweek", "doy": "dayofyear"}
"""Parts whose function in DuckDB has another name; there Sunday is 0."""

_WRITTEN: Mapping[str, tuple[str, int]] = {
    "YYYY": ("year", 4),
    "Q": ("quarter", 1),
    "MM": ("month", 2),
    "DD": ("day", 2),
    "IYYY": ("isoyear", 4),
    "IW": ("week", 2),
}


def _clamped(own: Fragment, low: int, high: int) -> Fragment:
    return Fragment("LEAST(GREATEST(") + own + Fragment(f", {low}), {high})")


def _month_number(moment: Fragment) -> Fragment:
    year, month = (
        Fragment(f"{part}(") + moment + Fragment(")") for part in ("year", "month")
    )
    return Fragment("(") + year + Fragment(" * 12 + ") + month + Fragment(" - 1)")


def add_months_sql(moment: Fragment, months: Fragment) -> Fragment:
    """Return a date so many months later: its day, or the month's last."""
    by = _clamped(months, -FAR_MONTHS, FAR_MONTHS)
    number = (
        Fragment("(") + _month_number(moment) + Fragment(" + ") + by + Fragment(")")
    )
    held = _clamped(number, FIRST_MONTH, LAST_MONTH)
    first = Fragment("make_date(") + held + Fragment(" // 12, ") + held
    first += Fragment(" % 12 + 1, 1)")
    day = Fragment(" + CAST(day(") + moment + Fragment(") - 1 AS INTEGER)")
    moved = Fragment("LEAST(") + first + day + Fragment(", last_day(") + first
    inside = months + Fragment(" IS NOT NULL AND ") + number
    inside += Fragment(f" BETWEEN {FIRST_MONTH} AND {LAST_MONTH}")
    return (
        Fragment("(CASE WHEN ")
        + inside
        + Fragment(" THEN ")
        + moved
        + Fragment(")) END)")
    )


def add_microseconds_sql(moment: Fragment, number: Fragment) -> Fragment:
    """Return a timestamp so many microseconds later."""
    own = Fragment("(epoch_us(") + moment + Fragment(") + ")
    moved = own + _clamped(number, -FAR, FAR) + Fragment(")")
    inside = number + Fragment(" IS NOT NULL AND ") + moved
    inside += Fragment(f" BETWEEN {MIN_MOMENT} AND {MAX_MOMENT}")
    held = _clamped(moved, MIN_MOMENT, MAX_MOMENT)
    made = Fragment(" THEN make_timestamp(") + held + Fragment(") END)")
    return Fragment("(CASE WHEN ") + inside + made


def time_between_sql(start: Fragment, end: Fragment) -> Fragment:
    """Return microseconds from one timestamp to another."""
    last = Fragment("(epoch_us(") + end + Fragment(") - epoch_us(")
    return last + start + Fragment("))")


def age_months_sql(birth: Fragment, at: Fragment) -> Fragment:
    """Return completed months; NULL where ``at`` comes before ``birth``."""
    early = Fragment("day(") + at + Fragment(") < day(") + birth + Fragment(")")
    months = _month_number(at) + Fragment(" - ") + _month_number(birth)
    months += Fragment(" - CAST(") + early + Fragment(" AS BIGINT)")
    later = at + Fragment(" >= ") + birth
    return (
        Fragment("(CASE WHEN ")
        + later
        + Fragment(" THEN ")
        + months
        + Fragment(" END)")
    )


def written_day_sql(moment: Fragment, pieces: tuple[str, ...]) -> Fragment:
    """Return the text of a day: its fields with leading zeros, and other texts."""
    return (
        Fragment("(")
        + listed((_piece(moment, piece) for piece in pieces), " || ")
        + Fragment(")")
    )


def _name(moment: Fragment, name: DayName) -> Fragment:
    """Return the English name of a day's weekday or month."""
    function = "dayname" if name.unit == "weekday" else "monthname"
    found = Fragment(f"{function}(") + moment + Fragment(")")
    if name.letters is not None:
        found = Fragment("left(") + found + Fragment(f", {name.letters})")
    if name.case != "capital":
        found = Fragment(f"{name.case}(") + found + Fragment(")")
    if name.padded:
        found = Fragment("rpad(") + found + Fragment(f", {PADDED_NAME}, ' ')")
    return found


def _piece(moment: Fragment, piece: str) -> Fragment:
    if piece.startswith(TEXT):
        return Fragment("CAST(? AS VARCHAR)", (piece.removeprefix(TEXT),))
    if piece in NAMES:
        return _name(moment, NAMES[piece])
    function, width = _WRITTEN[piece]
    number = Fragment(f"lpad(CAST({function}(") + moment
    return number + Fragment(f") AS VARCHAR), {width}, '0')")
