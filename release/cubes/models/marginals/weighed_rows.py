"""Rows with weights that have all tables that were measured, be they a tree or not."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray, Roll
from release.cubes.models.marginals.fit import TreeFit, binned, pulled_to

ROWS: Final = 50_000
"""How many rows a fit weighs; where none lies, the fit says 0. Twice as many
bring tables of Adult nearer by a twentieth, and take twice the time."""

CYCLES: Final = 1
"""Cycles of iterative fitting after each round; the next begins where this one ended.
Four are no nearer on the tables of docs/releases-accuracy.md."""

LAST_CYCLES: Final = 6
"""Cycles of iterative fitting after the last round."""

Pair = tuple[int, int]


@dataclass(slots=True)
class WeighedRows:
    """Rows of a tree's fit, weighed until they have the tables of further pairs.

    Of all weights that have the tables, iterative proportional fitting finds those
    nearest to the tree's in relative entropy (Csiszar 1975).

    Attributes:
        rows: Numbers of values, a dimension each; they need not stand evenly.
        bins: For each dimension, the bin of each of its values.
        weights: Of each row; they sum to 1.
    """

    rows: IntArray
    bins: tuple[IntArray, ...]
    weights: FloatArray = field(init=False)
    _wanted: list[tuple[IntArray, FloatArray]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.weights = np.full(len(self.rows), 1 / len(self.rows))

    @classmethod
    def of_tree(
        cls,
        rows: IntArray,
        tree: TreeFit,
        pairs: tuple[Pair, ...],
        bins: tuple[IntArray, ...],
    ) -> "WeighedRows":
        """Return rows that were drawn from a tree's fit, which they are to keep."""
        found = cls(rows, bins)
        for axis, shares in enumerate(tree.shares):
            found._wanted.append((rows[:, axis], shares))
        for (one, other), rates in zip(pairs, tree.conditionals, strict=True):
            side = binned(tree.shares[one], bins[one])
            found._want((one, other), (side[:, None] * rates).ravel())
        return found

    def shares(self, pair: Pair) -> FloatArray:
        """Return the share of each cell of a pair's bins, flat in C order."""
        size = self._bins_of(pair[0]) * self._bins_of(pair[1])
        summed = np.bincount(self._places(pair), self.weights, size)
        return np.asarray(summed, dtype=np.float64)

    def told(self, pair: Pair, table: IntArray, total: float, noise: float) -> None:
        """Weigh the rows anew, so that they have one more table.

        Args:
            pair: What it is a table of.
            table: As drawn.
            total: Of the table.
            noise: Variance of each entry.
        """
        self._want(pair, pulled_to(self.shares(pair), table, total, noise))
        self.fit(CYCLES)

    def fit(self, cycles: int) -> None:
        """Go over all tables some times; the one-way tables hold best, being last."""
        for _ in range(cycles):
            for places, wanted in reversed(self._wanted):
                have = np.bincount(places, self.weights, len(wanted))
                rates = np.where(have > 0, wanted / np.maximum(have, 1e-300), 0.0)
                self.weights = self.weights * rates[places]
        self.weights /= self.weights.sum()

    def sums(self, roll: Roll) -> FloatArray:
        """Return each group's share, one axis a dimension; masks are left out."""
        kept = np.ones(len(self.rows), dtype=np.bool_)
        places = np.zeros(len(self.rows), dtype=np.int64)
        for axis, (codes, groups) in enumerate(
            zip(roll.codes, roll.groups, strict=True)
        ):
            if groups == 1 and not codes.any():
                continue
            own = codes[self.rows[:, axis]]
            kept &= own >= 0
            places = places * groups + own
        size = int(np.prod(roll.groups))
        summed = np.bincount(places[kept], self.weights[kept], size)
        return np.asarray(summed.reshape(roll.groups), dtype=np.float64)

    def even_rows(self, count: int) -> IntArray:
        """Return some rows, as often as their weights say; no chance is in it.

        Taken at even steps of the sorted rows, so that tables of them are as near to
        the weights' as they can be; then laid out so that any run of them is mixed.
        """
        order = np.lexsort(self.rows.T[::-1])
        ends = np.cumsum(self.weights[order])
        even = (np.arange(count) + 0.5) / count * ends[-1]
        places = np.minimum(np.searchsorted(ends, even), len(order) - 1)
        mixed = np.argsort(np.mod(np.arange(count) * np.sqrt(2.0), 1.0), kind="stable")
        return np.asarray(self.rows[order[places[mixed]]], dtype=np.int64)

    def _want(self, pair: Pair, shares: FloatArray) -> None:
        self._wanted.append((self._places(pair), shares))

    def _places(self, pair: Pair) -> IntArray:
        one, other = (self.bins[axis][self.rows[:, axis]] for axis in pair)
        return one * self._bins_of(pair[1]) + other

    def _bins_of(self, axis: int) -> int:
        return int(self.bins[axis].max()) + 1
