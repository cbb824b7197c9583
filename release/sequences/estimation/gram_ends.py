"""Upper ends of how often grams occur, from what was drawn and kept of them alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray
from release.sequences.estimation.chains import PUSHED, GramLevel

_UNKNOWN: Final = -1

_Part = tuple[FloatArray, FloatArray, NDArray[np.bool_]]
"""Of each run: a part's noisy value, its noise's scale, and whether it was counted."""


@dataclass(frozen=True)
class GramEnds:
    """What bounds a gram's count whatever the others are.

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

    def of(
        self, group: int, codes: IntArray, long: float = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """Return upper ends of runs of one length, by their parts that were counted.

        No run occurs more often than a part of it: the least end of all parts is one.

        Args:
            group: Of the split.
            codes: (runs, symbols).
            long: How many of the counted places are of sequences that have others, too.

        Returns:
            The least end, where each part's holds 19 times in 20; and the least where
            they all hold together so often, of what any other sample would have held.
        """
        starts = range(codes.shape[1])
        parts = [part for first in starts for part in self._parts(group, codes, first)]
        values, scales, counted = (np.array(each) for each in zip(*parts, strict=True))
        values = np.where(counted, values, np.inf)
        least = (values + PUSHED * scales).min(axis=0)
        many = np.log(np.maximum(counted.sum(axis=0), 1))
        sampled = WEIGHTED_QUANTILE * np.sqrt(np.minimum(values, long))
        surely = values + np.hypot((PUSHED + many) * scales, sampled)
        return least, surely.min(axis=0)

    def _parts(self, group: int, codes: IntArray, first: int) -> list[_Part]:
        """Return what was drawn of the parts of runs that begin at one place."""
        length = codes.shape[1]
        rows, found = np.full(len(codes), group), []
        for size, (level, keys, above) in enumerate(
            zip(self.levels, self._keys, self._above, strict=False), 1
        ):
            if first + size > length:
                break
            own = codes[:, first : first + size]
            scales, thresholds = (column[rows] for column in above)
            places = self._found(keys, rows, own[:, -1])
            kept = places != _UNKNOWN
            values = thresholds.astype(np.float64)
            values[kept] = level.counts[places[kept]]
            counted = (rows != _UNKNOWN) & (scales > 0)
            rows = np.where(counted, places, _UNKNOWN)
            for before in range(first):  # the same gram says no more a second time
                same = codes[:, before : before + size] == own
                counted &= ~same.all(axis=1)
            found.append((np.maximum(values, 0), scales, counted))
        return found

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
