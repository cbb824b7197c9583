"""t-closeness: a class's sensitive values are spread much as the whole table's.

Source: Li, Li and Venkatasubramanian 2007, the earth mover's distance (EMD) with equal
distances (section 4.1) and with ordered ones (4.1.1). Both distances are convex, so
closeness of rows is monotone (their generalization property). Of patients it is not, as
l-diversity is not (there); what is asked of rows is searched by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from upstream.anonymization.arrays import Flags, Floats, Ints
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.principles.cells import (
    Cells,
    PatientValues,
    cells_of,
    patient_cells_of,
)
from upstream.anonymization.principles.principle import Sensitive, floors_of

_BLOCK = 2**21  # cells that are compared at once: 16 MB


@dataclass(frozen=True, slots=True)
class TCloseness:
    """The EMD between a class's sensitive values and the table's is at most t.

    The table is the given one; rows that are suppressed count in it. Of patients, where
    they have several rows: so is that between the values of a class's patients and of
    all, each patient counted once for each of his values there; and no value is one of
    all patients of a class that is not one of all patients.

    Attributes:
        column: The sensitive column.
        t: From 0 to 1; exact.
        is_ordered: Whether values lie in an order, neighbours 1/(m - 1) apart; else any
            two lie 1 apart.
        held: Which patients have which values; None: each row is another's.
    """

    column: Sensitive
    t: Fraction
    is_ordered: bool = False
    held: PatientValues | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            message = f"t is {self.t}: it must be from 0 to 1"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """Whether rows alone are counted: the distance is convex."""
        return self.held is None

    @property
    def monotone(self) -> "TCloseness":
        """Return what is asked of rows."""
        return replace(self, held=None)

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
        """Return its column, and the patients'."""
        own = (self.column,)
        return own if self.held is None else (*own, self.held.patients)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether it is as close as t, exactly."""
        holds = self._is_close(cells_of(classes, self.column), self._table())
        if self.held is not None:
            own = patient_cells_of(classes, self.held)
            table = np.bincount(self.held.values, minlength=self.column.size)
            holds &= self._is_close(own.cells, table)
            holds &= own.people > own.most(but=table == self.held.patients.size)
        return holds

    def distances(self, classes: Classes) -> Floats:
        """Return by class its rows' distance from the table's, from 0 to 1."""
        cells, table = cells_of(classes, self.column), self._table()
        whole = _sizes(cells) * table.sum() * self._steps
        distances: Floats = self._moved(cells, table) / whole
        return distances

    def _table(self) -> Ints:
        """Return how many rows of the table have each value."""
        return np.bincount(self.column.codes, minlength=self.column.size)

    @property
    def _steps(self) -> int:
        return max(1, self.column.size - 1) if self.is_ordered else 2

    def _is_close(self, cells: Cells, reference: Ints) -> Flags:
        # With counts c of n rows and Q of N: c/n - Q/N is (c N - Q n) / (n N). What is
        # added up are whole numbers below 2**63 for a million rows and values.
        num, den = self.t.as_integer_ratio()
        most = floors_of(num * int(reference.sum()) * self._steps, den, _sizes(cells))
        return np.asarray(self._moved(cells, reference) <= most)

    def _moved(self, cells: Cells, reference: Ints) -> Ints:
        """Return by class its distance times its counts, all counts, and the steps."""
        sizes = _sizes(cells)
        per_block = max(1, _BLOCK // self.column.size)
        blocks = [
            self._moved_block(cells, sizes, reference, (start, start + per_block))
            for start in range(0, len(sizes), per_block)
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


def _sizes(cells: Cells) -> Ints:
    """Return by class how much is counted in it."""
    sizes: Ints = np.add.reduceat(cells.counts, cells.starts)
    return sizes
