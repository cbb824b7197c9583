"""How the same thing is written by different people: dates, numbers, names, places."""

from datetime import date

import numpy as np

from server.demo.notes.lists import Lists
from server.demo.notes.people import Name, pick

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def written_date(rng: np.random.Generator, day: date, *, has_year: bool = True) -> str:
    """Return a day in one of the forms that notes have."""
    month, short = _MONTHS[day.month - 1], _MONTHS[day.month - 1][:3]
    if not has_year:
        return pick(
            rng, (f"{day.month}/{day.day}", f"{month} {day.day}", f"{short} {day.day}")
        )
    year = day.year
    return pick(
        rng,
        (
            f"{day.month:02}/{day.day:02}/{year}",
            f"{day.month:02}/{day.day:02}/{year}",
            f"{day.month}/{day.day}/{year % 100:02}",
            f"{day.month}-{day.day}-{year % 100:02}",
            f"{day.month:02}.{day.day:02}.{year}",
            day.isoformat(),
            f"{month} {day.day}, {year}",
            f"{month} {day.day}, {year}",
            f"{day.day} {month} {year}",
            f"{day.day}-{short}-{year}",
            f"{short} {day.day}, {year}",
            f"{short}. {day.day} {year}",
        ),
    )


def written_record(rng: np.random.Generator, digits: str) -> str:
    """Return the number of a record, as one system of many prints it."""
    return pick(
        rng,
        (
            digits,
            digits,
            f"{digits[:3]}-{digits[3:5]}-{digits[5:]}",
            f"0{digits}",
            f"H{digits}",
            f"{digits[:2]} {digits[2:4]} {digits[4:]}",
            f"MR-{digits}",
        ),
    )


def written_phone(rng: np.random.Generator, digits: str) -> str:
    """Return a phone number."""
    area, block, line = digits[:3], digits[3:6], digits[6:]
    return pick(
        rng,
        (
            f"({area}) {block}-{line}",
            f"{area}-{block}-{line}",
            f"{area}.{block}.{line}",
            f"{area} {block} {line}",
            f"{block}-{line}",
            f"({area}){block}-{line}",
        ),
    )


def full_name(rng: np.random.Generator, name: Name) -> str:
    """Return a whole name."""
    first, initial, last = name.first, name.initial, name.last
    return pick(
        rng,
        (
            f"{first} {last}",
            f"{first} {last}",
            f"{first} {initial}. {last}",
            f"{first} {initial} {last}",
            f"{last}, {first}",
            f"{last}, {first} {initial}",
            f"{last.upper()}, {first.upper()}",
        ),
    )


def spoken_name(rng: np.random.Generator, name: Name) -> str:
    """Return a whole name as it stands in a sentence."""
    first, last = name.first, name.last
    return pick(rng, (f"{first} {last}", f"{first} {name.initial}. {last}"))


def doctor_name(rng: np.random.Generator, name: Name) -> str:
    """Return a name as it follows ``Dr.``."""
    return pick(
        rng,
        (name.last, name.last, name.last, spoken_name(rng, name), name.last.upper()),
    )


def hospital_name(rng: np.random.Generator, lists: Lists) -> str:
    """Return the name of a hospital or a clinic."""
    stem, city = pick(rng, lists.hospitals), pick(rng, lists.cities)
    return pick(
        rng,
        (
            f"{stem} Hospital",
            f"{stem} Medical Center",
            f"{city} General Hospital",
            f"{city} Memorial Hospital",
            f"{stem} Hospital of {city}",
            f"{city} Regional Medical Center",
            f"{stem} Health Center",
            f"{city} Clinic",
            f"{stem} Rehab",
        ),
    )


def initials(words: str) -> str:
    """Return the first letters of words, as those who work there call a hospital.

    >>> initials("Fairview General Hospital")
    'FGH'
    """
    return "".join(word[0] for word in words.split() if word[0].isupper())
