"""Made-up people with names, addresses and birth dates, alone or in households.

As in FEBRL's data: names and places are drawn by frequencies that fall as Zipf's law,
from words that nobody is called; a part of the values is missing from the beginning.
"""

import random
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate

FIELDS = {
    "given_name": "name",
    "surname": "name",
    "street_number": "code",
    "address_1": "address",
    "address_2": "address",
    "suburb": "place",
    "postcode": "code",
    "state": "category",
    "date_of_birth": "date",
}
"""FEBRL's, without the social security number, and the kinds that they are of."""

Row = dict[str, str | None]
_HEADS = (
    *("b", "br", "c", "ch", "d", "dr", "f", "g", "gr", "h", "j", "k", "l", "m", "n"),
    *("p", "r", "s", "sh", "st", "t", "tr", "v", "w"),
)
_MIDDLES = ("a", "e", "i", "o", "u", "ai", "ea", "ee", "ie", "ou")
_TAILS = ("ck", "d", "l", "ll", "m", "n", "nd", "ng", "r", "rt", "s", "st", "t", "th")
_STREETS = (
    *("street", "street", "street", "place", "crescent"),
    *("circuit", "avenue", "close", "court", "road"),
)
_STATES = (*4 * ("nsw",), *3 * ("vic",), *2 * ("qld",), "wa", "sa", "tas", "act", "nt")
_AT_HOME = ("surname", "street_number", "address_1", "address_2", "suburb")
_MISSING = {"given_name": 0.02, "surname": 0.01, "street_number": 0.04}
_LATER_MISSING = {"address_1": 0.02, "address_2": 0.3, "date_of_birth": 0.05}


class Words:
    """Words that are drawn by Zipf's law."""

    def __init__(
        self, drawn: random.Random, count: int, syllables: Sequence[int]
    ) -> None:
        found: dict[str, None] = {}
        while len(found) < count:
            found[word(drawn, drawn.choice(syllables))] = None
        self.words = list(found)
        self._ends = list(accumulate(1 / (rank + 5) for rank in range(count)))

    def draw(self, drawn: random.Random) -> str:
        """Return one of them."""
        return self.words[bisect(self._ends, drawn.random() * self._ends[-1])]


def word(drawn: random.Random, syllables: int) -> str:
    """Return a word of so many syllables."""
    parts = [drawn.choice(_HEADS) + drawn.choice(_MIDDLES) for _ in range(syllables)]
    return "".join(parts) + drawn.choice(_TAILS)


class People:
    """A world of names and places, from which people are drawn."""

    def __init__(self, seed: int, scale: int = 1) -> None:
        self.drawn = random.Random(seed)
        self.given = Words(self.drawn, 800 * scale, (1, 2))
        self.surnames = Words(self.drawn, 4000 * scale, (1, 2, 2))
        self.streets = Words(self.drawn, 3000 * scale, (1, 2, 2))
        self.properties = Words(self.drawn, 2500 * scale, (2, 3))
        self.suburbs = Words(self.drawn, 1500 * scale, (2, 2, 3))
        self._codes = {
            name: (str(self.drawn.randrange(2000, 9000)), self.drawn.choice(_STATES))
            for name in self.suburbs.words
        }

    def draw(
        self, count: int, households: float = 0.0, alike: float = 0.0
    ) -> Iterator[Row]:
        """Yield people; the given part of them live with who was drawn before.

        They have that one's surname and address. Of these ``alike`` are a twin, who has
        the birth date, and as many are called as that one is.
        """
        before: Row = {}
        for _ in range(count):
            row = self._one()
            if before and self.drawn.random() < households:
                at_home = (*_AT_HOME, "postcode", "state")
                row |= {name: before[name] for name in at_home}
                kind = self.drawn.random() if alike else 1.0
                if kind < 2 * alike:
                    own = "date_of_birth" if kind < alike else "given_name"
                    row[own] = before[own]
            before = row
            yield self._with_gaps(row)

    def _one(self) -> Row:
        drawn, suburb = self.drawn, self.suburbs.draw(self.drawn)
        code, state = self._codes[suburb]
        year, month, day = (
            drawn.randint(*ends) for ends in ((1900, 1999), (1, 12), (1, 28))
        )
        return {
            "given_name": self.given.draw(drawn),
            "surname": self.surnames.draw(drawn),
            "street_number": str(int(drawn.paretovariate(0.5)) % 900 + 1),
            "address_1": f"{self.streets.draw(drawn)} {drawn.choice(_STREETS)}",
            "address_2": self.properties.draw(drawn),
            "suburb": suburb,
            "postcode": code,
            "state": state,
            "date_of_birth": f"{year}{month:02}{day:02}",
        }

    def _with_gaps(self, row: Row) -> Row:
        gaps = {**_MISSING, **_LATER_MISSING}
        return {
            name: None if self.drawn.random() < gaps.get(name, 0.0) else value
            for name, value in row.items()
        }
