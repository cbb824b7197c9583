"""Raw sequences under seal, and the exact sums that strategies measure."""

import numpy as np

from privacy.counts import IntArray, SparseCounts
from privacy.sealed import Exact
from privacy.sequences import SequenceCounts
from release.contract.sequence_domain import SequenceDomain
from release.sequences.sealed.repeats import Bars, repeats
from release.sequences.sealed.sampling import sampled_places
from release.sequences.sealed.sealed_places import SealedGrams
from release.sequences.sealed.walks import Walk


class SealedSequences:
    """Gives sums over raw sequences for public or noisy choices, each under seal.

    Every method is a function of the public domain and of its own arguments; what it
    returns is opened by a mechanism alone.
    """

    def __init__(self, domain: SequenceDomain, raw: Exact[SequenceCounts]) -> None:
        self.domain = domain
        self._raw = raw

    def roots(self) -> "SealedWalk":
        """Return the walk from the roots, one a group of the split."""
        codes, most = self.domain.symbols, self.domain.max_length
        return SealedWalk(
            self._raw.map(lambda raw: Walk.at_roots(raw, codes, most)),
        )

    def lengths(self, firsts: IntArray) -> Exact[IntArray]:
        """Return how many units have a length in each band, all groups together.

        Args:
            firsts: The least length of each band, ascending from 1.

        Neighbouring relation: add or remove all rows of one unit; one entry moves by 1.
        """
        counts = self.length_bands(firsts)
        return counts.map(lambda own: own.reshape(-1, len(firsts)).sum(axis=0))

    def repeats(self, bars: Bars) -> Exact[IntArray]:
        """Return the sum and the difference of units above both bars.

        Neighbouring relation: add or remove all rows of one unit; both numbers together
        move by 2 at most.
        """
        codes = self.domain.symbols
        return self._raw.map(lambda raw: repeats(raw, codes, bars))

    def length_bands(self, firsts: IntArray) -> Exact[IntArray]:
        """Return how many units have a length in each band, group by group.

        Args:
            firsts: The least length of each band, ascending from 1.

        Neighbouring relation: add or remove all rows of one unit; one entry moves by 1.
        """
        bands, groups = len(firsts), self.domain.groups

        def counted(raw: SequenceCounts) -> IntArray:
            own = np.searchsorted(firsts, np.diff(raw.starts), side="right") - 1
            own = np.maximum(own, 0)
            filled = np.zeros(groups * bands, dtype=np.int64)
            np.add.at(filled, raw.groups * bands + own, raw.counts)
            return filled

        return self._raw.map(counted)

    def sampled_symbols(self, firsts: IntArray) -> Exact[IntArray]:
        """Return the symbols at one sampled place of each unit, by bands of lengths.

        Args:
            firsts: The least length of each band, ascending from 1.

        Neighbouring relation: add or remove all rows of one unit; one entry moves by 1.
        """
        symbols = self.domain.symbols

        def counted(raw: SequenceCounts) -> IntArray:
            lengths = np.diff(raw.starts)
            owners, places = sampled_places(lengths, raw.phases, 1)
            bands = np.searchsorted(firsts, lengths[owners], side="right") - 1
            met = raw.symbols[raw.starts[owners] + places]
            filled = np.zeros(len(firsts) * symbols, dtype=np.int64)
            np.add.at(filled, bands * symbols + met, raw.counts[owners])
            return filled

        return self._raw.map(counted)

    def grams(self, cut: int) -> SealedGrams:
        """Return the walks that start at up to ``cut`` places of each unit."""
        return SealedGrams(self.domain, self._raw, cut)


class SealedWalk:
    """Who stands at which of the chosen nodes of one level, under seal."""

    def __init__(self, walk: Exact[Walk]) -> None:
        self._walk = walk

    def children(self) -> Exact[SparseCounts]:
        """Return the counts of all children of the nodes, for sparse mechanisms.

        A child's cell is its node's number times (|alphabet| + 1), plus its symbol; the
        end of a sequence is the last. A unit of h symbols has no end, nor a child of
        its last node.

        Neighbouring relation: add or remove all rows of one unit; one cell, of all
        groups and nodes together, moves by 1, or none does.
        """
        return self._walk.map(Walk.children)

    def down(self, cells: IntArray) -> "SealedWalk":
        """Return the walk at these children, numbered in this order.

        Args:
            cells: Noisy or public choices, ascending; none of an end.
        """
        return SealedWalk(self._walk.map(lambda walk: walk.down(cells)))
