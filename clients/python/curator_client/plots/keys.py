"""The keys of an answer's groups: their values in order, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from curator_client.plots.points import Answer, position
from curator_client.tables.display import shortened

_ORDERED = frozenset({"date", "timestamp", "integer", "decimal"})
_LEAST_ORDERED = 3  # values; fewer make no line
_LONGEST = 32  # characters of a label
_ENDINGS = (  # that say nothing where all labels have one: midnight, first days
    re.compile(r"(?<=^\d{4}-\d\d-\d\d)T00:00:00$"),
    re.compile(r"(?<=^\d{4}-\d\d)-01$"),
    re.compile(r"(?<=^\d{4})-01$"),
)


@dataclass(frozen=True)
class Key:
    """A key of the groups, or several that are taken as one.

    Attributes:
        name: Of its columns.
        values: The different values: times and numbers ascending and NULL last; others
            as the answer has them, in declared order.
        of_rows: The value of each row.
        is_ordered: Its values lie on an axis, and may be joined by a line.
    """

    name: str
    values: Sequence[Hashable]
    of_rows: Sequence[Hashable]
    is_ordered: bool = False

    @property
    def labels(self) -> list[str]:
        """What the values are called, one a value."""
        shown = [_shown(value) for value in self.values]
        return _without_endings(shown) if self.is_ordered else shown

    @property
    def positions(self) -> list[float]:
        """Where the values lie: on their axis, else one beside another.

        NULL is a step beyond the last value.
        """
        if not self.is_ordered:
            return [float(place) for place in range(len(self.values))]
        known = [position(value) for value in self.values if value is not None]
        step = (known[-1] - known[0]) / (len(known) - 1)
        return [*known, known[-1] + step][: len(self.values)]

    def first(self, most: int) -> Key:
        """Return the key with so many of its values at most."""
        return replace(self, values=self.values[:most])


def keys_of(answer: Answer) -> list[Key]:
    """Return the keys of an answer; one of all where they do not tell rows apart.

    They do not where totals stand beside groups, or a key was not selected.
    """
    titles = [str(column["name"]) for column in answer.columns]
    kinds = {str(column["name"]): str(column["type"]) for column in answer.columns}
    keys = [
        _key(name, kinds[name], [row[titles.index(name)] for row in answer.rows])
        for name in answer.groups
    ]
    told = list(zip(*(key.of_rows for key in keys), strict=True))
    if len(set(told)) < len(answer.rows):
        return [taken_as_one(keys, len(answer.rows))]
    return keys


def taken_as_one(keys: Sequence[Key], count: int) -> Key:
    """Return keys as one, with a value for each of so many rows.

    >>> one = taken_as_one([Key("a", ["x"], ["x"]), Key("b", [None], [None])], 1)
    >>> one.name, one.labels
    ('a, b', ['x, NULL'])
    """
    rows = zip(*(key.of_rows for key in keys), strict=True) if keys else [()] * count
    told = [Several(row, place) for place, row in enumerate(rows)]
    return Key(", ".join(key.name for key in keys), told, told)


@dataclass(frozen=True)
class Several:
    """The values of several keys in one row."""

    values: tuple[Hashable, ...]
    row: int

    def __str__(self) -> str:
        """Return the values with commas between them."""
        return ", ".join(map(_shown, self.values))


def _key(name: str, kind: str, values: Sequence[Any]) -> Key:
    different = list(dict.fromkeys(values))
    known = [value for value in different if value is not None]
    if kind not in _ORDERED or len(known) < _LEAST_ORDERED:
        return Key(name, different, values)
    ends = [None] if None in different else []
    return Key(name, [*sorted(known, key=position), *ends], values, is_ordered=True)


def _shown(value: object) -> str:
    return "NULL" if value is None else shortened(str(value), _LONGEST)


def _without_endings(labels: list[str]) -> list[str]:
    """Leave out what all days and times have in common: of months the day.

    >>> _without_endings(["2024-01-01", "2024-02-01", "NULL"])
    ['2024-01', '2024-02', 'NULL']
    """
    for ending in _ENDINGS:
        cut = [ending.sub("", label) for label in labels]
        if all(a != b or a == "NULL" for a, b in zip(cut, labels, strict=True)):
            labels = cut
    return labels
