"""Equivalence classes: rows that look alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from upstream.anonymization.arrays import Codes, Flags, Ints

_DENSE = 8  # bins for each row, up to which counting is faster than sorting
_SMALL = 2**31
_LARGEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Classes of rows, by what an algorithm has of them.

    An entry is a row, or a row that stands for several that look alike in all columns
    that matter. So a principle counts the same on rows and on what is rolled up.

    Attributes:
        codes: By entry: its class, from 0.
        count: How many classes there are; each has an entry.
        rows: By entry: a row of the table that it stands for.
        weights: By entry: how many rows it stands for; None if each is one row.
        counted: What several principles need, by the array that it was counted of.
    """

    codes: Ints
    count: int
    rows: Ints
    weights: Ints | None = None
    counted: dict[int, Ints] = field(default_factory=dict, repr=False)

    def kept(self, which: Flags) -> "Classes":
        """Return only some classes, in their order."""
        entries = which[self.codes]
        weights = None if self.weights is None else self.weights[entries]
        codes = np.cumsum(which)[self.codes[entries]] - 1
        return Classes(codes, int(which.sum()), self.rows[entries], weights)

    def sizes(self) -> Ints:
        """Return how many rows each class has."""
        return row_counts(self.codes, self.weights, self.count)


def row_counts(codes: Codes, weights: Ints | None, size: int) -> Ints:
    """Return how many rows have each code; exact up to 2**53 rows."""
    counts = np.bincount(codes, weights=weights, minlength=size)
    return counts.astype(np.int64)


def classes_of(codes: Codes) -> Classes:
    """Return the classes of all rows, where each row's class is known."""
    count = int(codes.max()) + 1 if len(codes) else 0
    return Classes(codes, count, np.arange(len(codes)))


def class_codes(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Ints, int]:
    """Return the class of each row, and how many there are: rows agree in all columns.

    Classes are numbered from 0 in the order of the columns' codes.

    Args:
        columns: At least one; codes by row, from 0.
        sizes: By column: how many codes it has.
    """
    width = np.int32 if prod(sizes) < _SMALL else np.int64  # half of it is faster
    key: Ints = columns[0].astype(width)
    size = sizes[0]
    for column, values in zip(columns[1:], sizes[1:], strict=True):
        if size * values > _LARGEST:
            key, size = _compact(key, size)
        key, size = key * values + column, size * values
    return _compact(key, size)


def _compact(key: Ints, size: int) -> tuple[Ints, int]:
    """Return keys renumbered from 0 without gaps, and how many there are."""
    if size > _DENSE * len(key):
        found, codes = np.unique(key, return_inverse=True)
        return codes, len(found)
    is_there = np.zeros(size, bool)
    is_there[key] = True
    found = np.flatnonzero(is_there)
    places = np.empty(size, np.int64)
    places[found] = np.arange(len(found))
    return places[key], len(found)


def runs_of(key: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the distinct keys, rising, and how many rows have each.

    Args:
        key: Whole numbers below ``size``.
        size: A bound of them; small ones are counted instead of sorted.
    """
    if size <= _DENSE * len(key):
        counts = np.bincount(key, minlength=size)
        keys = np.flatnonzero(counts)
        return keys, counts[keys]
    keys = np.sort(key)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[starts], np.diff(starts, append=len(keys))
