"""Raw counts of a cube under seal, and the exact sums that strategies measure."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from privacy.counts import IntArray, SparseCounts
from privacy.sealed import Exact
from release.contract.domain import CubeDomain

MAX_DENSE_CELLS: Final = 20_000_000
"""The most cells that are ever held one by one."""


class SealedCube:
    """Gives sums of raw counts over public sets of cells, each still under seal.

    Every method is a function of the public domain and of its own arguments, which are
    public or noisy; what it returns is opened by a mechanism alone.
    """

    def __init__(self, domain: CubeDomain, raw: Exact[SparseCounts]) -> None:
        self.domain = domain
        self._raw = raw

    def sparse(self) -> Exact[SparseCounts]:
        """Return the cells that are not 0, for mechanisms that hide which they are."""
        return self._raw

    def cells(self) -> Exact[IntArray]:
        """Return the count of every cell, C order.

        Raises:
            ValueError: There are more cells than are ever held one by one.
        """
        size = self._dense_size()
        return self._raw.map(lambda raw: _dense(raw, size))

    def marginal(self, axes: Sequence[int]) -> Exact[IntArray]:
        """Return the sums over all other dimensions, C order of ``axes``."""
        shape = self.domain.shape
        kept = tuple(shape[axis] for axis in axes)
        size = int(np.prod(kept, dtype=object)) if kept else 1
        if size > MAX_DENSE_CELLS:
            raise ValueError(size)

        def summed(raw: SparseCounts) -> IntArray:
            if not kept:
                return np.array([raw.counts.sum()], dtype=np.int64)
            places = np.unravel_index(raw.cells, shape)
            flat = np.ravel_multi_index(tuple(places[axis] for axis in axes), kept)
            return _dense(SparseCounts(np.asarray(flat), raw.counts), size)

        return self._raw.map(summed)

    def group_sums(self, groups: IntArray, count: int) -> Exact[IntArray]:
        """Return sums over groups of cells.

        Args:
            groups: For each cell, C order, its group in 0..count-1, or -1 for none.
            count: How many groups there are.
        """

        def summed(raw: SparseCounts) -> IntArray:
            own = groups[raw.cells]
            kept = own >= 0
            return _dense(SparseCounts(own[kept], raw.counts[kept]), count)

        return self._raw.map(summed)

    def box_sums(self, lower: IntArray, upper: IntArray) -> Exact[IntArray]:
        """Return sums over boxes of cells.

        Args:
            lower: (boxes, dimensions), first place of each box on each axis.
            upper: (boxes, dimensions), the place after its last one.
        """
        shape = self.domain.shape
        self._dense_size()

        def summed(raw: SparseCounts) -> IntArray:
            size = self.domain.size
            image = np.zeros([n + 1 for n in shape], dtype=np.int64)
            inner = tuple(slice(1, None) for _ in shape)
            image[inner] = _dense(raw, size).reshape(shape)
            for axis in range(len(shape)):
                np.cumsum(image, axis=axis, out=image)
            total = np.zeros(len(lower), dtype=np.int64)
            for corner in range(2 ** len(shape)):
                ends = [(corner >> axis) & 1 for axis in range(len(shape))]
                place = tuple(
                    (upper if end else lower)[:, axis] for axis, end in enumerate(ends)
                )
                sign = (-1) ** (len(shape) - sum(ends))
                total += sign * image[place]
            return total

        return self._raw.map(summed)

    def interval_costs(
        self, order: IntArray | None, starts: IntArray, lengths: IntArray
    ) -> Exact[IntArray]:
        """Return how uneven runs of cells are, each on a grid of its own.

        Args:
            order: Which cell stands at each place; None: C order.
            starts: First place of each run.
            lengths: How many places it has, m.

        Returns:
            m times the sum over the run of a count's distance from the mean: the sum
            of ``|m x - S|``, an integer. Counts saturate where that could overflow.
        """
        most = 2**61 // max(1, self.domain.size) ** 2

        def costs(raw: SparseCounts) -> IntArray:
            line = np.minimum(self._line(raw, order), most)
            found = np.zeros(len(starts), dtype=np.int64)
            for length in np.unique(lengths).tolist():
                own = np.flatnonzero(lengths == length)
                runs = sliding_window_view(line, length)[starts[own]]
                sums = runs.sum(axis=1, keepdims=True)
                found[own] = np.abs(length * runs - sums).sum(axis=1)
            return found

        return self._raw.map(costs)

    def spreads(self, order: IntArray | None, starts: IntArray) -> Exact[IntArray]:
        """Return, for each bucket, the sum of distances from its mean, rounded up.

        Args:
            order: Which cell stands at each place; None: C order.
            starts: First place of each bucket, ascending from 0.
        """
        lengths = np.diff(starts, append=self.domain.size)
        most = 2**61 // max(1, self.domain.size) ** 2

        def distances(raw: SparseCounts) -> IntArray:
            line = np.minimum(self._line(raw, order), most)
            sums = np.repeat(np.add.reduceat(line, starts), lengths)
            apart = np.abs(np.repeat(lengths, lengths) * line - sums)
            return np.asarray(-(-np.add.reduceat(apart, starts) // lengths))

        return self._raw.map(distances)

    def _line(self, raw: SparseCounts, order: IntArray | None) -> IntArray:
        cells = _dense(raw, self._dense_size())
        return cells if order is None else cells[order]

    def _dense_size(self) -> int:
        if self.domain.size > MAX_DENSE_CELLS:
            raise ValueError(self.domain.size)
        return self.domain.size


def _dense(raw: SparseCounts, size: int) -> IntArray:
    filled = np.zeros(size, dtype=np.int64)
    np.add.at(filled, raw.cells, raw.counts)
    return filled
