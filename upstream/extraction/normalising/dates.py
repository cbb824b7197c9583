"""Dates, in numbers and in English, Spanish and German words, as ISO 8601 has them."""

import re
from datetime import date
from typing import Literal

from upstream.extraction.normalising.outcomes import (
    Doubt,
    DoubtError,
    Normalised,
    normalised,
)

Order = Literal["day_first", "month_first"]

_MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "january jan enero ene januar jänner jän",
            "february feb febrero februar feber",
            "march mar marzo märz mär mrz maerz",
            "april apr abril abr",
            "may mayo mai",
            "june jun junio juni",
            "july jul julio juli",
            "august aug agosto ago",
            "september sept sep septiembre setiembre set",
            "october oct octubre oktober okt",
            "november nov noviembre",
            "december dec diciembre dic dezember dez",
        ),
        1,
    )
    for name in names.split()
}
_NAMES_OF_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu "
    "thur thurs fri sat sun lunes martes miércoles miercoles jueves viernes sábado "
    "sabado domingo montag dienstag mittwoch donnerstag freitag samstag sonnabend "
    "sonntag mo di mi do fr sa so"
)
_DAYS = frozenset(_NAMES_OF_DAYS.split())
_JOINING = frozenset({"of", "the", "de", "del", "el", "den", "der", "dem"})
_ISO = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})")
_NUMBERS = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})")
_WORDS = re.compile(r"([0-9]+)(?:st|nd|rd|th|º|°)?(?![^\W_])|([^\W\d_]+)|([^\s,.'-])")
_LONGEST = 100  # characters of a date; a longer text is none
_CENTURY = 100
_MONTHS_OF_A_YEAR = 12
_FULL_YEAR = 4  # digits
_DAY_AND_YEAR = 2  # numbers


def normal_date(
    text: str, *, order: Order | None = None, years_until: int | None = None
) -> Normalised:
    """Return a date as ``2024-03-05``.

    Args:
        text: What a span says.
        order: What comes first in ``3/5/2024``; None: such a date is ambiguous
            unless one number is above 12 or both are alike.
        years_until: A year of two digits is the last one with these digits up to this
            year; None: it is ambiguous.

    >>> normal_date("March 5th, 2024").value, normal_date("5 de marzo de 2024").value
    ('2024-03-05', '2024-03-05')
    >>> normal_date("3/5/2024").doubt, normal_date("3/5/2024", order="day_first").value
    (<Doubt.AMBIGUOUS: 'ambiguous'>, '2024-05-03')
    """
    return normalised(lambda: _read(text, order, years_until).isoformat())


def _read(text: str, order: Order | None, until: int | None) -> date:
    """Return a date.

    Raises:
        DoubtError: The text is none, or one of several.
    """
    stripped = " ".join(text.lower().split()).strip(" .,;")
    if len(stripped) > _LONGEST:
        raise DoubtError(Doubt.UNREADABLE)
    if found := _ISO.fullmatch(stripped):
        return _day(int(found[1]), int(found[3]), int(found[4]))
    if found := _NUMBERS.fullmatch(stripped):
        first, second = int(found[1]), int(found[3])
        return _ordered(_year(found[4], until), first, second, order)
    day, month, year = _in_words(stripped)
    return _day(_year(year, until), month, int(day))


def _ordered(year: int, first: int, second: int, order: Order | None) -> date:
    if order is None and max(first, second) <= _MONTHS_OF_A_YEAR and first != second:
        raise DoubtError(Doubt.AMBIGUOUS)
    is_day_first = order == "day_first" or (order is None and first > _MONTHS_OF_A_YEAR)
    month, day = (second, first) if is_day_first else (first, second)
    return _day(year, month, day)


def _in_words(text: str) -> tuple[str, int, str]:
    """Return the digits of the day, the month, and the digits of the year."""
    words = _WORDS.findall(text)
    said = {word for _, word, _ in words if word} - _DAYS - _JOINING
    months = [_MONTHS[word] for _, word, _ in words if word in _MONTHS]
    numbers = [number for number, _, _ in words if number]
    is_strange = any(sign for _, _, sign in words) or not said <= _MONTHS.keys()
    if is_strange or len(months) != 1 or len(numbers) > _DAY_AND_YEAR:
        raise DoubtError(Doubt.UNREADABLE)
    if len(numbers) < _DAY_AND_YEAR:
        raise DoubtError(Doubt.INCOMPLETE)
    day, year = numbers
    if len(day) == _FULL_YEAR:  # 2024 March 5
        day, year = year, day
    if len(day) > _FULL_YEAR // 2 or len(year) not in {2, _FULL_YEAR}:
        raise DoubtError(Doubt.UNREADABLE)
    return day, months[0], year


def _year(digits: str, until: int | None) -> int:
    """Return a year.

    Raises:
        DoubtError: Its century is not known.
    """
    if len(digits) == _FULL_YEAR:
        return int(digits)
    if until is None:
        raise DoubtError(Doubt.AMBIGUOUS)
    return until - (until - int(digits)) % _CENTURY


def _day(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise DoubtError(Doubt.IMPOSSIBLE) from None
