"""t-closeness: a class's sensitive values are spread much as the whole table's.

Source: Li, Li and Venkatasubramanian 2007, the earth mover's distance (EMD) with equal
distances (section 4.1) and with ordered ones (4.1.1). Both distances are convex, so
closeness is monotone (their generalization property).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from upstream.anonymization.arrays import Flags, Floats, Ints
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.principles.cells import Cells, cells_of
from upstream.anonymization.principles.principle import Sensitive, floors_of

_BLOCK = 2**21  # cells that are compared at once: 16 MB


@dataclass(frozen=True, slots=True)
class TCloseness:
    """The EMD between a class's sensitive values and the table's is at most t.

    The table is the given one; rows that are suppressed count in it.

    Attributes:
        column: The sensitive column.
        t: From 0 to 1; exact.
        is_ordered: Whether values lie in an order, neighbours 1/(m - 1) apart; else any
            two lie 1 apart.
    """

    column: Sensitive
    t: Fraction
    is_ordered: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            message = f"t is {self.t}: it must be from 0 to 1"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """True: the distance is convex."""
        return True

    @property
    def is_absorbing(self) -> bool:
        """False: what is joined may be far from the table."""
        return False

    @property
    def least_size(self) -> int:
        """Return 1."""
        return 1

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return its column."""
        return (self.column,)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether it is as close as t, exactly."""
        sizes = classes.sizes()
        # With counts c of n rows and Q of N: c/n - Q/N is (c N - Q n) / (n N). What is
        # added up are whole numbers below 2**63 for a million rows and values.
        scaled = self._moved(classes, sizes)
        whole = len(self.column.codes)
        steps = max(1, self.column.size - 1) if self.is_ordered else 2
        num, den = self.t.as_integer_ratio()
        return np.asarray(scaled <= floors_of(num * whole * steps, den, sizes))

    def distances(self, classes: Classes) -> Floats:
        """Return by class its distance from the table, from 0 to 1."""
        sizes = classes.sizes()
        steps = max(1, self.column.size - 1) if self.is_ordered else 2
        whole = sizes * len(self.column.codes) * steps
        distances: Floats = self._moved(classes, sizes) / whole
        return distances

    def _moved(self, classes: Classes, sizes: Ints) -> Ints:
        """Return by class its distance times its rows, all rows, and the steps."""
        cells = cells_of(classes, self.column)
        reference = np.bincount(self.column.codes, minlength=self.column.size)
        per_block = max(1, _BLOCK // self.column.size)
        blocks = [
            self._moved_block(cells, sizes, reference, (start, start + per_block))
            for start in range(0, classes.count, per_block)
        ]
        return np.concatenate(blocks)

    def _moved_block(
        self, cells: Cells, sizes: Ints, reference: Ints, block: tuple[int, int]
    ) -> Ints:
        """Return it for the classes of a block."""
        start, end = block
        first, last = np.searchsorted(cells.classes, block)
        counts = np.zeros((len(sizes[start:end]), self.column.size), np.int64)
        places = cells.classes[first:last] - start, cells.values[first:last]
        counts[places] = cells.counts[first:last]
        moved = counts * reference.sum() - reference * sizes[start:end, None]
        if self.is_ordered:
            moved = np.cumsum(moved, axis=1)
        total: Ints = np.abs(moved).sum(axis=1)
        return total

    def __str__(self) -> str:
        kind = "ordered " if self.is_ordered else ""
        return f"{kind}{self.t}-closeness of {self.column.name}"
