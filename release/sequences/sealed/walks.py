"""Where raw sequences stand in a growing tree: array steps, never a loop over units."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from privacy.counts import IntArray, SparseCounts
from privacy.sequences import SequenceCounts

_DENSE: Final = 4_000_000
"""Cells up to which one array of all is quicker than sorting."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The sequences that still run along kept nodes, all of one depth.

    Attributes:
        raw: All sequences.
        codes: |alphabet|, which is the code of the end, too.
        most: h; whoever has so many symbols does not show an end.
        depth: How many symbols lead to the nodes.
        sequences: Places of those sequences in ``raw``.
        nodes: The node that each stands at.
    """

    raw: SequenceCounts
    codes: int
    most: int
    depth: int
    sequences: IntArray
    nodes: IntArray

    @classmethod
    def at_roots(cls, raw: SequenceCounts, codes: int, most: int) -> "Walk":
        """Return all sequences, each at the root of its group."""
        everyone = np.arange(len(raw.counts))
        return cls(raw, codes, most, 0, everyone, raw.groups)

    def children(self) -> SparseCounts:
        """Return how many units go on to each child of each node, or end there.

        A child's cell is its node times (|alphabet| + 1), plus its symbol.
        """
        return sparse_sums(self._cells(), self.raw.counts[self.sequences])

    def down(self, cells: IntArray) -> "Walk":
        """Return who goes on to these children, which become the nodes, numbered so.

        Args:
            cells: Of children that do not end, ascending.
        """
        own = self._cells()
        places = np.searchsorted(cells, own)
        inside = places < len(cells)
        inside[inside] = cells[places[inside]] == own[inside]
        depth = self.depth + 1
        inside &= self._lengths(self.sequences) >= depth
        if depth >= self.most:
            inside[:] = False
        return Walk(
            self.raw,
            self.codes,
            self.most,
            depth,
            self.sequences[inside],
            places[inside],
        )

    def _cells(self) -> IntArray:
        places = self.raw.starts[self.sequences] + self.depth
        symbols = np.full(len(places), self.codes, dtype=np.int64)
        goes_on = self._lengths(self.sequences) > self.depth
        symbols[goes_on] = self.raw.symbols[places[goes_on]]
        return self.nodes * (self.codes + 1) + symbols

    def _lengths(self, sequences: IntArray) -> IntArray:
        return self.raw.starts[sequences + 1] - self.raw.starts[sequences]


def sparse_sums(cells: IntArray, counts: IntArray) -> SparseCounts:
    """Return the sums of counts by cell; cells of nothing are left out."""
    if len(cells) and int(cells.max()) < min(_DENSE, 8 * len(cells)):
        sums = np.zeros(int(cells.max()) + 1, dtype=np.int64)
        np.add.at(sums, cells, counts)
        found = np.flatnonzero(sums)
        return SparseCounts(found, sums[found])
    order = np.argsort(cells, kind="stable")
    found, first = np.unique(cells[order], return_index=True)
    sums = np.add.reduceat(counts[order], first) if len(first) else counts[:0]
    return SparseCounts(found, sums)
