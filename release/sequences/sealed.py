"""Raw sequences under seal, and the exact sums that strategies measure."""

import numpy as np

from privacy.counts import IntArray
from privacy.sealed import Exact
from privacy.sequences import SequenceCounts
from release.sequences.domain import SequenceDomain
from release.sequences.places import SealedGrams


class SealedSequences:
    """Gives sums over raw sequences for public or noisy choices, each under seal.

    Every method is a function of the public domain and of its own arguments; what it
    returns is opened by a mechanism alone.
    """

    def __init__(self, domain: SequenceDomain, raw: Exact[SequenceCounts]) -> None:
        self.domain = domain
        self._raw = raw

    def length_bands(self, firsts: IntArray) -> Exact[IntArray]:
        """Return how many units have a length in each band, group by group.

        Args:
            firsts: The least length of each band, ascending from 1.

        Neighbouring relation: add or remove all rows of one unit; one entry moves by 1.
        """
        bands, groups = len(firsts), self.domain.groups

        def counted(raw: SequenceCounts) -> IntArray:
            own = np.searchsorted(firsts, np.diff(raw.starts), side="right") - 1
            filled = np.zeros(groups * bands, dtype=np.int64)
            np.add.at(filled, raw.groups * bands + own, raw.counts)
            return filled

        return self._raw.map(counted)

    def grams(self, cut: int) -> SealedGrams:
        """Return the walks that start at each unit's first ``cut`` places."""
        return SealedGrams(self.domain, self._raw, cut)
