"""Upper ends of how often grams occur, from what was drawn and kept of them alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray
from release.sequences.estimation.chains import PUSHED, GramLevel

_UNKNOWN: Final = -1


@dataclass(frozen=True)
class GramEnds:
    """What bounds a gram's count whatever the others are, 19 times in 20.

    A kept gram's noisy value, or the threshold that an unkept one had, and the noise
    that may have drawn it down so far. No prior takes part: grams that nothing but
    their own count speaks for are as frequent as they are.

    Attributes:
        levels: As published.
        scale: Of the noise of single symbols.
        threshold: The least noisy count of a single symbol that was kept.
        symbols: In the alphabet; the end of sequences is the next code.
        groups: Of the split.
    """

    levels: Sequence[GramLevel]
    scale: float
    threshold: int
    symbols: int
    groups: int

    def of(self, group: int, codes: IntArray) -> FloatArray:
        """Return upper ends of runs of one length: the least of all their parts.

        No run occurs more often than a part of it.

        Args:
            group: Of the split.
            codes: (runs, symbols).
        """
        starts = range(codes.shape[1])
        ends = [self._of_beginnings(group, codes[:, first:]) for first in starts]
        return np.asarray(np.min(ends, axis=0))

    def _of_beginnings(self, group: int, codes: IntArray) -> FloatArray:
        """Return the least upper end of the runs' beginnings that were counted."""
        rows = np.full(len(codes), group)
        ends = np.full(len(codes), np.inf)
        for level, keys, above, symbols in zip(
            self.levels, self._keys, self._above, codes.T, strict=False
        ):
            scales, thresholds = (column[rows] for column in above)
            found = self._found(keys, rows, symbols)
            kept = found != _UNKNOWN
            values = thresholds.astype(np.float64)
            values[kept] = level.counts[found[kept]]
            counted = (rows != _UNKNOWN) & (scales > 0)
            own = np.maximum(values, 0) + PUSHED * scales
            ends = np.where(counted, np.minimum(ends, own), ends)
            rows = np.where(counted, found, _UNKNOWN)
        return ends

    def _found(self, keys: IntArray, rows: IntArray, symbols: IntArray) -> IntArray:
        """Return the rows of the next level's grams; unknown where there is none."""
        if not len(keys):
            return np.full(len(rows), _UNKNOWN)
        wanted = np.where(rows == _UNKNOWN, _UNKNOWN, rows * self._base + symbols)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[places] == wanted, places, _UNKNOWN)

    @property
    def _base(self) -> int:
        return self.symbols + 2

    @cached_property
    def _keys(self) -> list[IntArray]:
        """Each level's grams as numbers of parent and symbol, ascending."""
        found = []
        for level in self.levels:
            last = np.where(level.symbols < 0, self._base - 1, level.symbols)
            keys = level.parents * self._base + last
            if (np.diff(keys) <= 0).any():
                message = "grams are published by parent, then symbol"
                raise ValueError(message)
            found.append(keys)
        return found

    @cached_property
    def _above(self) -> list[tuple[FloatArray, IntArray]]:
        """For each level the scale and the threshold of the children of each parent.

        An entry more at the end, for parents that are unknown, says: not counted.
        """
        first = np.full(self.groups, self.scale), np.full(self.groups, self.threshold)
        above = [first, *((level.scales, level.thresholds) for level in self.levels)]
        return [
            (np.append(scales, 0.0), np.append(thresholds, 0))
            for scales, thresholds in above
        ]
