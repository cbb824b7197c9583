"""Slips of the pen: duplicates of people as FEBRL's generator makes them, and others.

A mix says how many duplicates an original has, how many slips a field and a record get,
and how often each kind of slip occurs.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.linking.people import People, Row

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHAPES = {
    "m": "n",
    "n": "m",
    "i": "l",
    "l": "i",
    "o": "0",
    "s": "5",
    "b": "6",
    "u": "v",
}
_SOUNDS = (
    ("ck", "k"),
    ("ph", "f"),
    ("ee", "ea"),
    ("ie", "y"),
    ("ou", "u"),
    ("ll", "l"),
)
_SWAPPED = (("given_name", "surname"), ("address_1", "address_2"))


@dataclass(frozen=True)
class Mix:
    """What duplicates are like.

    Attributes:
        duplicated: The part of the originals that have duplicates.
        most: Duplicates of an original at most; fewer are likelier.
        per_field: Slips of a field at most.
        per_record: Slips of a record at most; from 1 on, all alike.
        kinds: How often each kind of slip occurs, to each other.
        households: The part of the people who live with another.
        alike: The part of these who are a twin of that one, and who have its name.
    """

    duplicated: float = 1.0
    most: int = 1
    per_field: int = 1
    per_record: int = 4
    kinds: Mapping[str, float] | None = None
    households: float = 0.0
    alike: float = 0.0


def _insert(drawn: random.Random, text: str) -> str:
    at = drawn.randint(0, len(text))
    signs = "0123456789" if text.isdigit() else _LETTERS
    return text[:at] + drawn.choice(signs) + text[at:]


def _delete(drawn: random.Random, text: str) -> str:
    at = drawn.randrange(len(text))
    return text[:at] + text[at + 1 :]


def _change(drawn: random.Random, text: str) -> str:
    at = drawn.randrange(len(text))
    signs = "0123456789" if text.isdigit() else _LETTERS
    return text[:at] + drawn.choice(signs) + text[at + 1 :]


def _transpose(drawn: random.Random, text: str) -> str:
    at = drawn.randrange(max(1, len(text) - 1))
    return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]


def _space(drawn: random.Random, text: str) -> str:
    if " " in text:
        return text.replace(" ", "", 1)
    at = drawn.randint(1, max(1, len(text) - 1))
    return f"{text[:at]} {text[at:]}"


def _misread(drawn: random.Random, text: str) -> str:
    places = [at for at, sign in enumerate(text) if sign in _SHAPES]
    if not places:
        return _change(drawn, text)
    at = drawn.choice(places)
    return text[:at] + _SHAPES[text[at]] + text[at + 1 :]


def _misheard(drawn: random.Random, text: str) -> str:
    fitting = [pair for pair in _SOUNDS if pair[0] in text]
    if not fitting:
        return _change(drawn, text)
    return text.replace(*drawn.choice(fitting), 1)


IN_A_FIELD: dict[str, Callable[[random.Random, str], str]] = {
    "insert": _insert,
    "delete": _delete,
    "change": _change,
    "transpose": _transpose,
    "space": _space,
    "misread": _misread,
    "misheard": _misheard,
}
KINDS = {
    **dict.fromkeys(IN_A_FIELD, 1.0),
    "missing": 1.0,
    "swap": 0.6,
    "other": 0.4,
}
"""All kinds; ``other`` is a value of somebody else's, ``swap`` of the field beside."""


def drawn_records(
    count: int, mix: Mix, seed: int, scale: int = 1
) -> Iterator[tuple[int, Row]]:
    """Yield records, each with the number of whose it is; duplicates come after."""
    people = People(seed, scale)
    drawn = random.Random(seed + 1)
    kinds = mix.kinds or KINDS
    for person, row in enumerate(people.draw(count, mix.households, mix.alike)):
        yield person, row
        if drawn.random() < mix.duplicated:
            many = min(drawn.randint(1, mix.most), drawn.randint(1, mix.most))
            for _ in range(many):
                yield person, slipped(people, drawn, row, mix, kinds)


def slipped(
    people: People, drawn: random.Random, row: Row, mix: Mix, kinds: Mapping[str, float]
) -> Row:
    """Return a duplicate of a record, with slips."""
    found, slips = dict(row), dict.fromkeys(row, 0)
    for _ in range(drawn.randint(1, mix.per_record)):
        name = drawn.choice(list(found))
        if slips[name] >= mix.per_field or not found[name]:
            continue
        slips[name] += 1
        (kind,) = drawn.choices(list(kinds), list(kinds.values()))
        _slip(people, drawn, found, name, kind)
    return found


def _slip(people: People, drawn: random.Random, row: Row, name: str, kind: str) -> None:
    """Change a field of a record, and the one that it is swapped with."""
    if kind == "missing":
        row[name] = None
    elif kind == "other":
        row[name] = next(people.draw(1))[name]
    elif kind == "swap":
        pair = next((pair for pair in _SWAPPED if name in pair), None)
        if pair:
            row[pair[0]], row[pair[1]] = row[pair[1]], row[pair[0]]
    else:
        row[name] = IN_A_FIELD[kind](drawn, str(row[name])) or None
