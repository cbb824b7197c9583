"""Who lives together: couples, siblings, twins, fathers and sons of one name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import count, islice
from typing import Literal

import numpy as np

from server.demo.linking.names import common_lists
from server.demo.notes.lists import STATES, Lists
from server.demo.notes.people import (
    LAST_DAY,
    Name,
    Person,
    draw_person,
    draw_phone,
    draw_street,
    pick,
)

Kind = Literal["alone", "couple", "siblings", "twins", "namesakes"]
"""What a household is; ``namesakes`` are a parent and a child of one name."""
_KINDS: tuple[Kind, ...] = (
    *("alone",) * 12,
    *("couple",) * 5,
    *("siblings", "siblings", "twins", "namesakes"),
)
_YOUNGER: Mapping[Kind, tuple[int, int]] = {
    "couple": (-3_000, 3_000),
    "siblings": (400, 2_500),
    "twins": (0, 0),
    "namesakes": (8_000, 14_000),
}
"""By how many days the second of a household is younger."""
_LEAST_LIFE = timedelta(days=1_100)  # born before the first stay of all
_LEAST_AGES = {"couple": 30, "namesakes": 45}
_ODDS_OF_CHANGE = 0.06  # that somebody was called otherwise before


@dataclass(frozen=True, slots=True)
class Home:
    """Where a household lives.

    Attributes:
        street: With the number and the flat.
        town: Its name.
        state: Two letters.
        postcode: Five digits.
        phone: Ten digits.
    """

    street: str
    town: str
    state: str
    postcode: str
    phone: str

    @property
    def written(self) -> str:
        """The address on one line, as notes have it."""
        return f"{self.street}, {self.town}, {self.state} {self.postcode}"


@dataclass(frozen=True, slots=True)
class Resident:
    """A patient, with what only the truth says of them.

    Attributes:
        person: Who they are, as their notes have it.
        household: Its number.
        kind: What that household is.
        home: Where they live.
        before: Where they lived before.
        earlier: Their surname before it changed; None: it never did.
        email: Theirs.
    """

    person: Person
    household: int
    kind: Kind
    home: Home
    before: Home
    earlier: str | None
    email: str


def draw_residents(patients: int, seed: int) -> list[Resident]:
    """Return so many patients, household by household.

    Args:
        patients: How many.
        seed: Another seed is other people.
    """
    return list(islice(_residents(seed), patients))


def _residents(seed: int) -> Iterator[Resident]:
    lists, numbers = common_lists(), count()
    for household in count(1):
        rng = np.random.default_rng((seed, 0, household))
        kind = pick(rng, _KINDS)
        people = _people(rng, lists, kind, numbers)
        homes = draw_home(rng, lists), draw_home(rng, lists)
        for person in people:
            yield _settled(rng, lists, person, (household, kind, *homes))


def _people(
    rng: np.random.Generator, lists: Lists, kind: Kind, numbers: Iterator[int]
) -> list[Person]:
    number = next(numbers)
    first = draw_person(rng, lists, number)
    while first.age(LAST_DAY) < _LEAST_AGES.get(kind, 4):
        first = draw_person(rng, lists, number)
    if kind == "alone":
        return [first]
    second = draw_person(rng, lists, next(numbers))
    return [first, _beside(rng, lists, first, second, kind)]


def _beside(
    rng: np.random.Generator, lists: Lists, first: Person, second: Person, kind: Kind
) -> Person:
    """Return the second person as the first one's partner, sibling, twin or child."""
    is_namesake = kind == "namesakes"
    is_female = first.is_female if is_namesake else second.is_female
    given = first.name.first if is_namesake else second.name.first
    while given == first.name.first and not is_namesake:
        given = pick(rng, lists.women if is_female else lists.men)
    is_one_name = kind != "couple" or rng.random() < 0.8
    last = first.name.last if is_one_name else second.name.last
    name = Name(given, second.name.initial, last)
    born = _later(rng, first.born, *_YOUNGER[kind])
    return replace(second, name=name, born=born, is_female=is_female)


def _later(rng: np.random.Generator, born: date, least: int, most: int) -> date:
    """Return a birthday so many days after another, but in the past."""
    day = born + timedelta(days=int(rng.integers(least, most + 1)))
    return day if day < LAST_DAY - _LEAST_LIFE else max(born, LAST_DAY - _LEAST_LIFE)


def draw_home(rng: np.random.Generator, lists: Lists) -> Home:
    """Return a home; a town has one state and three postcodes."""
    at = int(rng.integers(len(lists.cities)))
    postcode = 10_000 + at * 1_301 + int(rng.integers(3))
    street, town = draw_street(rng, lists), lists.cities[at]
    state = STATES[at * 7 % len(STATES)]
    return Home(street, town, state, str(postcode), draw_phone(rng))


def _settled(
    rng: np.random.Generator,
    lists: Lists,
    person: Person,
    household: tuple[int, Kind, Home, Home],
) -> Resident:
    number, kind, home, before = household
    name, kin = person.name, person.relative
    last = name.last if rng.random() < 0.6 else kin.last
    phone = home.phone if rng.random() < 0.5 else draw_phone(rng)
    known = replace(
        person,
        relative=Name(kin.first, kin.initial, last),
        address=home.written,
        city=home.town,
        phone=phone,
    )
    earlier = pick(rng, lists.surnames) if rng.random() < _ODDS_OF_CHANGE else None
    return Resident(known, number, kind, home, before, earlier, _email(rng, name))


def _email(rng: np.random.Generator, name: Name) -> str:
    letters = "".join(each for each in name.last.lower() if "a" <= each <= "z")
    first = "".join(each for each in name.first.lower() if "a" <= each <= "z")
    host = pick(rng, ("example.org", "example.net", "example.com"))
    return f"{first[:1]}{letters}{rng.integers(1, 100)}@{host}"
