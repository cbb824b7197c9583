"""The partitions that may still be cut, all of one depth, held in one array each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Codes, Flags, Ints
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.mondrian.cuts import Cuts


@dataclass(frozen=True, slots=True, eq=False)
class Partitions:
    """Partitions, one after another.

    Attributes:
        rows: By entry: a row of the table; rows of one partition stand together, in the
            order of the table.
        codes: By column, by entry: its value.
        sizes: By partition: its rows, at least one.
    """

    rows: Ints
    codes: tuple[Codes, ...]
    sizes: Ints

    def numbers(self) -> Ints:
        """Return by entry the number of its partition."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def kept(self, which: Flags) -> "Partitions":
        """Return only some of the partitions."""
        if which.all():
            return self
        entries = np.repeat(which, self.sizes)
        codes = tuple(each[entries] for each in self.codes)
        return Partitions(self.rows[entries], codes, self.sizes[which])

    def sides(self, cuts: Sequence[Cuts], columns: Ints) -> Flags:
        """Return by entry whether it lies right of its partition's cut.

        Args:
            cuts: By column, by partition.
            columns: By partition: along which column it is cut.
        """
        numbers = self.numbers()
        own = np.arange(len(self.sizes))
        after = np.array([each.after for each in cuts])[columns, own]
        quota = np.array([each.quota for each in cuts])[columns, own]
        chosen = self._chosen(columns, numbers)
        beyond = chosen > after[numbers]
        equal = chosen == after[numbers]
        counted = np.cumsum(equal)
        starts = np.cumsum(self.sizes) - self.sizes
        before = (counted - equal)[starts]
        rank = counted - before[numbers]
        right: Flags = beyond | (equal & (rank > quota[numbers]))
        return right

    def _chosen(self, columns: Ints, numbers: Ints) -> Codes:
        """Return by entry its value in the column along which it is cut."""
        chosen = np.empty(len(self.rows), np.int64)
        for column in np.unique(columns):
            here = (columns == column)[numbers]
            chosen[here] = self.codes[column][here]
        return chosen

    def halves(self, right: Flags) -> Classes:
        """Return both sides of each partition as classes, left before right."""
        codes = 2 * self.numbers() + right
        return Classes(codes, 2 * len(self.sizes), self.rows)

    def split(self, right: Flags) -> "Partitions":
        """Return the sides of all partitions as partitions, left before right."""
        numbers = self.numbers()
        starts = np.cumsum(self.sizes) - self.sizes
        lefts = np.cumsum(~right)
        before: Ints = lefts - ~right  # lefts ahead of the entry, in all partitions
        ahead: Ints = before - before[starts][numbers]
        left_sizes = np.add.reduceat(~right, starts, dtype=np.int64)
        own = np.arange(len(right)) - starts[numbers]
        places = starts[numbers] + np.where(
            right, left_sizes[numbers] + own - ahead, ahead
        )
        order = np.empty(len(right), np.int64)
        order[places] = np.arange(len(right))
        sizes = np.column_stack([left_sizes, self.sizes - left_sizes]).ravel()
        codes = tuple(each[order] for each in self.codes)
        return Partitions(self.rows[order], codes, sizes)
