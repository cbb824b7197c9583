"""What goes wrong when people are registered: letters, dates, names, old addresses."""

import unicodedata
from dataclasses import dataclass
from datetime import date

import numpy as np

from server.demo.linking.names import SHORT_FORMS
from server.demo.notes.people import pick

_NEIGHBOURS = dict(
    zip("abcdefghijklmnopqrstuvwxyz", "svvfrghjokklnmipwtdyibecux", strict=True)
)


@dataclass(frozen=True, slots=True)
class Rates:
    """How often things go wrong, as parts of all values.

    Attributes:
        typo: A letter of a name or a street.
        short: A given name that has a short form.
        exchanged: Given name and surname in each other's columns.
        swapped: Day and month of a date, where both orders are days.
        wrong_day: A digit of a day.
        moved: An address, or a phone, from before a move.
        missing: A value that may be missing.
        accents: Accents that are lost.
    """

    typo: float = 0.04
    short: float = 0.25
    exchanged: float = 0.01
    swapped: float = 0.025
    wrong_day: float = 0.01
    moved: float = 0.12
    missing: float = 0.05
    accents: float = 0.4


@dataclass(frozen=True)
class Clerk:
    """Whoever types a record in.

    Attributes:
        rng: What they get wrong.
        rates: How often.
    """

    rng: np.random.Generator
    rates: Rates = Rates()

    def errs(self, rate: float) -> bool:
        """Whether something of this rate happens now."""
        return bool(self.rng.random() < rate)

    def typed(self, text: str) -> str:
        """Return a text, sometimes with a letter wrong, missing, doubled or swapped."""
        text = unaccented(text) if self.errs(self.rates.accents) else text
        if len(text) < 3 or not self.errs(self.rates.typo):
            return text
        at = int(self.rng.integers(1, len(text) - 1))
        near = _NEIGHBOURS.get(text[at], text[at])
        return pick(
            self.rng,
            (
                text[:at] + near + text[at + 1 :],
                text[:at] + text[at + 1 :],
                text[:at] + text[at] + text[at:],
                text[:at] + text[at + 1] + text[at] + text[at + 2 :],
            ),
        )

    def given(self, name: str) -> str:
        """Return a given name, or what somebody is called for short."""
        forms = SHORT_FORMS.get(name)
        if forms and self.errs(self.rates.short):
            return pick(self.rng, forms)
        return self.typed(name)

    def day(self, day: date) -> date | None:
        """Return a date, sometimes another one; None: nobody asked."""
        if self.errs(self.rates.missing):
            return None
        if day.day <= 12 and self.errs(self.rates.swapped):
            return day.replace(day=day.month, month=day.day)
        if self.errs(self.rates.wrong_day):
            return day.replace(day=int(self.rng.integers(1, 29)))
        return day

    def kept(self, text: str, times: float = 1.0) -> str:
        """Return a value, or nothing, so many times as often as others are missing."""
        return "" if self.errs(self.rates.missing * times) else text


def unaccented(text: str) -> str:
    """Return a text as it is typed on a keyboard without accents.

    >>> unaccented("Núñez Sørensen")
    'Nunez Sorensen'
    """
    plain = text.replace("ø", "o").replace("Ø", "O").replace("ß", "ss")
    return "".join(
        each
        for each in unicodedata.normalize("NFD", plain)
        if not unicodedata.combining(each)
    )
