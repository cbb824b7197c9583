"""Frequency sets: how many rows look alike at a node of the lattice.

Source: LeFevre, DeWitt and Ramakrishnan 2005, section 3 (roll-up).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Codes, Ints
from upstream.anonymization.columns.classes import Classes, class_codes, row_counts
from upstream.anonymization.columns.columns import HierarchyColumn
from upstream.anonymization.principles.principle import Sensitive

Node = tuple[int, ...]
"""A level for each column of a subset of the quasi-identifiers."""


@dataclass(frozen=True, slots=True, eq=False)
class FrequencySet:
    """Rows that look alike at a node, with the same sensitive values.

    Attributes:
        rows: By entry: a row that it stands for, of the distinct ones.
        classes: The classes at the node, with how many rows each entry stands for.
    """

    rows: Ints
    classes: Classes


class Frequencies:
    """Makes frequency sets of subsets of the columns, at any levels.

    Attributes:
        distinct: By row of the table: which distinct row it is.
        rows: By distinct row: a row of the table.
        weights: By distinct row: how many rows of the table it is.
    """

    def __init__(
        self, columns: Sequence[HierarchyColumn], sensitive: Sequence[Sensitive]
    ) -> None:
        coded = [(column.codes, column.domain.size) for column in columns]
        coded += [(column.codes, column.size) for column in sensitive]
        self.distinct, count = class_codes(*zip(*coded, strict=True))
        self.rows = np.zeros(count, np.int64)
        self.rows[self.distinct[::-1]] = np.arange(len(self.distinct))[::-1]
        self.weights = np.bincount(self.distinct)
        self._levels = [
            [
                codes.astype(np.int32)[column.codes[self.rows]]
                for codes in column.domain.codes
            ]
            for column in columns
        ]
        self._sizes = [[len(names) for names in c.domain.labels] for c in columns]
        self._sensitive: list[tuple[Codes, int]] = [
            (column.codes[self.rows], column.size) for column in sensitive
        ]

    def at(
        self, columns: Sequence[int], node: Node, below: FrequencySet | None = None
    ) -> FrequencySet:
        """Return the frequency set of a node.

        Args:
            columns: The subset: numbers of columns.
            node: Their levels.
            below: The set of a node of the subset that is nowhere above this one, to
                roll up; the distinct rows, if None.
        """
        if below is None:
            rows, weights = np.arange(len(self.rows)), self.weights
        else:
            rows, weights = below.rows, _weights(below.classes)
        places = list(zip(columns, node, strict=True))
        looks = [self._levels[column][level][rows] for column, level in places]
        sizes = [self._sizes[column][level] for column, level in places]
        codes, count = class_codes(looks, sizes)
        entries, number = codes, count
        if self._sensitive:
            values = [each[rows] for each, _ in self._sensitive]
            of_values = [size for _, size in self._sensitive]
            entries, number = class_codes([codes, *values], [count, *of_values])
        first = np.zeros(number, np.int64)
        first[entries] = np.arange(len(entries))
        summed = row_counts(entries, weights, number)
        found = rows[first]
        return FrequencySet(
            found, Classes(codes[first], count, self.rows[found], summed)
        )

    def classes_at(self, columns: Sequence[int], node: Node) -> tuple[Ints, int]:
        """Return the class of each distinct row at a node, and how many there are."""
        places = list(zip(columns, node, strict=True))
        looks = [self._levels[column][level] for column, level in places]
        return class_codes(looks, [self._sizes[c][level] for c, level in places])


def _weights(classes: Classes) -> Ints:
    """Return how many rows entries stand for."""
    ones = np.ones(len(classes.codes), np.int64)
    return ones if classes.weights is None else classes.weights
