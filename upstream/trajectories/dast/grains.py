"""Grains: in which detail a quasi-identifier is listed.

Source: Li and Qin 2017, definition 1 and section 6, which suggests months or seasons
for visits, years for births, five digits or names for places.
"""

from collections.abc import Callable, Mapping
from datetime import date

_SEASONS = ("winter", "spring", "summer", "autumn")


def month_year(day: date) -> str:
    """Return the month of a day.

    >>> month_year(date(2009, 4, 25))
    '2009-04'
    """
    return f"{day.year:04}-{day.month:02}"


def season_year(day: date) -> str:
    """Return the season of a day, northern; December is of the next year's winter.

    >>> season_year(date(2009, 12, 1))
    '2010-winter'
    """
    return f"{day.year + day.month // 12:04}-{_SEASONS[day.month % 12 // 3]}"


def year(day: date) -> str:
    """Return the year of a day: all that Safe Harbor allows."""
    return f"{day.year:04}"


GRAINS: Mapping[str, Callable[[date], str]] = {
    "month": month_year,
    "season": season_year,
    "year": year,
}
"""Of days, by name."""
