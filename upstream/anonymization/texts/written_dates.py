"""Dates as they are written: moved by days, in the same form, or cut to their year.

What is not read for sure is not moved: whoever asks tags it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from upstream.extraction.normalising.dates import Order, normal_date

_ENGLISH = (
    (
        "january february march april may june july august september october november "
        "december"
    ),
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "monday tuesday wednesday thursday friday saturday sunday",
    "mon tue wed thu fri sat sun",
)
_SPANISH = (
    (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre "
        "noviembre diciembre"
    ),
    "ene feb mar abr may jun jul ago sep oct nov dic",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lun mar mié jue vie sáb dom",
)
_GERMAN = (
    (
        "januar februar märz april mai juni juli august september oktober november "
        "dezember"
    ),
    "jan feb mär apr mai jun jul aug sep okt nov dez",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "mo di mi do fr sa so",
)
_LISTS = (_ENGLISH, _SPANISH, _GERMAN)
_PARTS: Final = re.compile(r"[0-9]+|[^\W\d_]+|.", re.DOTALL)
_ORDINALS: Final = {1: "st", 2: "nd", 3: "rd"}
_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th"})
_TEENS: Final = range(11, 14)
_CENTURY, _FULL_YEAR = 100, 4
_BESIDE_A_NAME, _ALL = 2, 3  # numbers of a date
_YEAR: Final = re.compile(r"(?<![0-9])(?:1[89]|20|21)[0-9]{2}(?![0-9])")


@dataclass(frozen=True, slots=True)
class DateReading:
    """How dates of a collection are read.

    Attributes:
        order: As of ``normal_date``.
        years_until: Likewise.
    """

    order: Order | None = None
    years_until: int | None = None

    def of(self, text: str) -> date | None:
        """Return the day that a text says, or None where it is not sure."""
        told = normal_date(text, order=self.order, years_until=self.years_until)
        return None if told.value is None else date.fromisoformat(told.value)


def shifted_date(text: str, days: int, reading: DateReading) -> str | None:
    """Return a date that is some days later, written as the text is.

    Args:
        text: What a span says.
        days: How many; below 0: earlier.
        reading: How it is read.

    Returns:
        None where the text is not read for sure, or the new day cannot be written so.

    >>> shifted_date("March 5th, 2024", 30, DateReading())
    'April 4th, 2024'
    >>> shifted_date("05.03.24", -10, DateReading("day_first", 2026))
    '24.02.24'
    """
    old = reading.of(text)
    if old is None:
        return None
    try:
        new = old + timedelta(days=days)
    except OverflowError:
        return None
    if _names_another_day(text, old):
        return None
    written = "".join(_rewritten(text, old, new, reading))
    # Whatever was read otherwise than it is written now is not given out.
    return written if reading.of(written) == new else None


def year_of(text: str, reading: DateReading) -> int | None:
    """Return the year of a date, of which it may be the only part that is sure.

    >>> year_of("3/5/2024", DateReading()), year_of("in May", DateReading())
    (2024, None)
    """
    day = reading.of(text)
    if day is not None:
        return day.year
    years = {int(year) for year in _YEAR.findall(text)}
    return years.pop() if len(years) == 1 else None


def _rewritten(text: str, old: date, new: date, reading: DateReading) -> Iterator[str]:
    parts = _PARTS.findall(text)
    roles = _roles(parts, old, reading)
    words = _words(text, old, new)
    short = [parts[place] for place, role in roles.items() if role != "y"]
    is_padded = len(short) > 1 and all(len(part) > 1 for part in short)
    for place, part in enumerate(parts):
        if place in roles:
            yield _number(part, roles[place], new, is_padded=is_padded)
        elif part.lower() in _SUFFIXES and place - 1 in roles:
            yield _like(part, _ordinal(new.day))
        else:
            yield _like(part, words.get(part.lower(), part))


def _roles(parts: list[str], old: date, reading: DateReading) -> Mapping[int, str]:
    """Return which numbers are the day, the month and the year, by their places."""
    places = [place for place, part in enumerate(parts) if part[0] in "0123456789"]
    numbers = [parts[place] for place in places]
    if len(numbers) == _BESIDE_A_NAME:  # the month is a word
        is_year_first = len(numbers[0]) == _FULL_YEAR
        return dict(zip(places, ("yd" if is_year_first else "dy"), strict=True))
    if len(numbers) != _ALL:
        return {}
    if len(numbers[0]) == _FULL_YEAR:
        return dict(zip(places, "ymd", strict=True))
    is_day_first = int(numbers[0]) == old.day and int(numbers[1]) == old.month
    if old.day == old.month:
        is_day_first = reading.order == "day_first"
    return dict(zip(places, "dmy" if is_day_first else "mdy", strict=True))


def _number(old: str, role: str, new: date, *, is_padded: bool) -> str:
    if role == "y":
        year = new.year if len(old) == _FULL_YEAR else new.year % _CENTURY
        return str(year).zfill(len(old))
    number = new.day if role == "d" else new.month
    width = len("05") if is_padded or old.startswith("0") else 1
    return str(number).zfill(width)


def _names_another_day(text: str, day: date) -> bool:
    """Whether a text names a day of the week that is not the date's: it would stay."""
    said = {part.lower() for part in _PARTS.findall(text)}
    days = [names.split() for _, _, *both in _LISTS for names in both]
    named = {name for names in days for name in names} & said
    right = {names[day.weekday()] for names in days}
    months = {name for both in _LISTS for names in both[:2] for name in names.split()}
    return bool(named - right - months)


def _words(text: str, old: date, new: date) -> dict[str, str]:
    """Return what takes the place of the names of the month and of the day."""
    lists = list(_LISTS)
    if re.search(r"\bde\b", text.lower()):
        lists.insert(0, _SPANISH)
    elif re.search(r"[0-9]\.\s*[^\W\d_]", text):
        lists.insert(0, _GERMAN)
    told: dict[str, str] = {}
    for months, short_months, days, short_days in reversed(lists):
        for names in (short_months, months):
            split = names.split()
            told[split[old.month - 1]] = split[new.month - 1]
        for names in (short_days, days):
            split = names.split()
            told.setdefault(split[old.weekday()], split[new.weekday()])
    return told


def _ordinal(number: int) -> str:
    if number in _TEENS:
        return "th"
    return _ORDINALS.get(number % 10, "th")


def _like(old: str, new: str) -> str:
    """Return a word in capitals where another one has them."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new.capitalize() if old[:1].isupper() else new
