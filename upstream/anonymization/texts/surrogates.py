"""Surrogates: other values of the same form, one for each value of a patient."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase, digits
from typing import Final

from upstream.anonymization.texts.keyed import KeyedChoice
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.lists import LISTS, Lists
from upstream.anonymization.texts.names import NameSurrogates

_TURNS = 8  # a value that is drawn itself so often has no surrogate
_NO_SIGNS: Final = re.compile(r"[\W_]+")
_MOST_OF_A_HOST = 254
_MOST_HOUSES = 180


@dataclass(frozen=True)
class Surrogates:
    """The surrogates of one patient's values.

    Attributes:
        choice: Of the patient.
        names: Of names.
        lists: What the others are drawn from.
    """

    choice: KeyedChoice
    names: NameSurrogates
    lists: Lists = field(default=LISTS)

    def of(self, kind: Kind, text: str) -> str | None:
        """Return what stands for a value; None: nothing can, and it is never itself.

        Letters and digits of numbers become others, so their form stays. Addresses of
        mail, pages and networks are of those that are reserved for examples (RFC 2606,
        RFC 5737).
        """
        if kind is Kind.NAME:
            return self.names.written(text)
        make = _MAKERS.get(kind, _shaped)
        value = _NO_SIGNS.sub("", text).casefold()
        for turn in range(_TURNS):
            new = make(self, kind, text, _Draw(self.choice, kind, value, turn))
            if new is None:
                return None
            if _NO_SIGNS.sub("", new).casefold() != value:
                return new
        return None


@dataclass(frozen=True, slots=True)
class _Draw:
    """Numbers that are drawn for one value, one after another."""

    choice: KeyedChoice
    kind: Kind
    value: str
    turn: int

    def below(self, most: int, place: int = 0) -> int:
        purpose = f"{self.kind} {place}"
        return self.choice.number(purpose, self.value, most, turn=self.turn)


_Make = Callable[[Surrogates, Kind, str, _Draw], str | None]


def _shaped(own: Surrogates, kind: Kind, text: str, draw: _Draw) -> str | None:
    """Return a text of the same signs, with other letters and digits."""
    del own, kind
    if not any(character.isalnum() for character in text):
        return None
    return "".join(
        _other(character, draw, place) for place, character in enumerate(text)
    )


def _other(character: str, draw: _Draw, place: int) -> str:
    if character.isdigit():
        return digits[draw.below(len(digits), place)]
    if not character.isalpha():
        return character
    new = ascii_lowercase[draw.below(len(ascii_lowercase), place)]
    return new.upper() if character.isupper() else new


def _email(own: Surrogates, kind: Kind, text: str, draw: _Draw) -> str | None:
    if "@" not in text:
        return _shaped(own, kind, text, draw)
    local, _, _ = text.partition("@")
    return f"{_shaped(own, kind, local, draw) or 'x'}@example.org"


def _url(own: Surrogates, kind: Kind, text: str, draw: _Draw) -> str | None:
    del own, kind, text
    page = "".join(
        ascii_lowercase[draw.below(len(ascii_lowercase), place)] for place in range(8)
    )
    return f"https://example.org/{page}"


def _ip(own: Surrogates, kind: Kind, text: str, draw: _Draw) -> str | None:
    del own, kind
    number = 1 + draw.below(_MOST_OF_A_HOST)
    return f"2001:db8::{number:x}" if ":" in text else f"192.0.2.{number}"


def _street(own: Surrogates, kind: Kind, text: str, draw: _Draw) -> str | None:
    del kind, text
    streets = own.lists.streets
    return f"{1 + draw.below(_MOST_HOUSES)} {streets[draw.below(len(streets), 1)]}"


def _place(own: Surrogates, kind: Kind, text: str, draw: _Draw) -> str | None:
    del kind, text
    return own.lists.places[draw.below(len(own.lists.places))]


def _organization(own: Surrogates, kind: Kind, text: str, draw: _Draw) -> str | None:
    del kind, text
    names = own.lists.organizations
    return names[draw.below(len(names))]


_MAKERS: Final[Mapping[Kind, _Make]] = {
    Kind.EMAIL: _email,
    Kind.URL: _url,
    Kind.IP_ADDRESS: _ip,
    Kind.STREET: _street,
    Kind.PLACE: _place,
    Kind.ORGANIZATION: _organization,
}
