"""Made-up patients: who they are, and what is only ever written down in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

import numpy as np

from server.demo.notes.lists import STATES, Lists

T = TypeVar("T")
LAST_DAY = date(2025, 12, 31)
ALLERGENS = ("penicillin", "sulfa", "latex", "morphine", "shellfish", "ibuprofen")
_RELATIONS = {
    True: ("daughter", "sister", "wife"),
    False: ("son", "brother", "husband"),
}


def pick(rng: np.random.Generator, options: Sequence[T]) -> T:
    """Return one of these, each as likely."""
    return options[int(rng.integers(len(options)))]


@dataclass(frozen=True, slots=True)
class Name:
    """A first and a last name, and a middle initial."""

    first: str
    initial: str
    last: str


@dataclass(frozen=True, slots=True)
class Person:
    """A patient.

    Attributes:
        id: As in a hospital's tables.
        name: Theirs.
        is_female: Their sex.
        born: Their birthday.
        record: Digits of their record's number.
        phone: Ten digits.
        address: Street, city, state and postal code.
        city: The city alone.
        relative: Somebody near them.
        relation: What that one is to them.
        smokes: Smokes at present.
        fell: Has fallen lately.
        allergy: What they do not tolerate; none: nothing known.
    """

    id: str
    name: Name
    is_female: bool
    born: date
    record: str
    phone: str
    address: str
    city: str
    relative: Name
    relation: str
    smokes: bool
    fell: bool
    allergy: str | None

    def age(self, day: date) -> int:
        """Return their age on a day, in years."""
        had = (day.month, day.day) >= (self.born.month, self.born.day)
        return max(day.year - self.born.year - (not had), 0)


def draw_name(rng: np.random.Generator, lists: Lists, *, is_female: bool) -> Name:
    """Return a name; some last names are two, joined by a hyphen."""
    last = pick(rng, lists.surnames)
    if rng.random() < 0.04:
        last = f"{last}-{pick(rng, lists.surnames)}"
    initial = pick(rng, "ABCDEFGHJKLMNPRSTVW")
    return Name(pick(rng, lists.women if is_female else lists.men), initial, last)


def draw_phone(rng: np.random.Generator) -> str:
    """Return ten digits whose second block is 555: nobody is called by these."""
    return f"{rng.integers(201, 990)}555{rng.integers(0, 10_000):04}"


def draw_person(
    rng: np.random.Generator, lists: Lists, number: int, day: date = LAST_DAY
) -> Person:
    """Return a patient.

    Args:
        rng: Draws them.
        lists: Names and places.
        number: Makes their id, which others do not have.
        day: The last day of any note.
    """
    is_female = bool(rng.random() < 0.53)
    years = int(np.clip(rng.normal(62, 19), 1, 98))
    name = draw_name(rng, lists, is_female=is_female)
    kin = draw_name(rng, lists, is_female=bool(rng.random() < 0.5))
    is_kin_female = kin.first in lists.women
    relation = pick(rng, _RELATIONS[is_kin_female])
    if relation in {"wife", "husband"} and (is_kin_female == is_female or years < 20):
        relation = "mother" if is_kin_female else "father"
    shared = Name(kin.first, kin.initial, name.last if rng.random() < 0.6 else kin.last)
    city = pick(rng, lists.cities)
    return Person(
        id=f"P{(number * 7_919 + 12_345) % 10**7:07}",
        name=name,
        is_female=is_female,
        born=day - timedelta(days=years * 365 + int(rng.integers(365))),
        record=f"{rng.integers(10**6, 10**7)}",
        phone=draw_phone(rng),
        address=f"{draw_street(rng, lists)}, {city}, {pick(rng, STATES)} "
        f"{rng.integers(10_000, 99_999)}",
        city=city,
        relative=shared,
        relation=relation,
        smokes=bool(years > 15 and rng.random() < 0.24),
        fell=bool(rng.random() < 0.06 + 0.3 * (years > 70)),
        allergy=pick(rng, ALLERGENS) if rng.random() < 0.27 else None,
    )


def draw_street(rng: np.random.Generator, lists: Lists) -> str:
    """Return a number and a street, sometimes with a flat."""
    kind = pick(
        rng, ("Street", "St", "Avenue", "Ave", "Road", "Lane", "Dr", "Court", "Way")
    )
    flat = f", Apt {rng.integers(1, 40)}" if rng.random() < 0.15 else ""
    return f"{rng.integers(1, 4_000)} {pick(rng, lists.streets)} {kind}{flat}"
