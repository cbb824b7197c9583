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

UNKNOWN: Final = -1

_Part = tuple[FloatArray, FloatArray, NDArray[np.bool_]]
"""Of each run: a part's noisy value, its noise's scale, and whether it was counted."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn of some grams of one length.

    Attributes:
        places: Where each stands among the kept ones; unknown where it is not.
        values: The noisy value, or the threshold that one had that was not kept.
        scales: Of the noise.
        counted: Whether it was counted.
    """

    places: IntArray
    values: FloatArray
    scales: FloatArray
    counted: NDArray[np.bool_]


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

    def child(self, size: int, above: IntArray, symbols: IntArray) -> Drawn:
        """Return what was drawn of grams of a size.

        Args:
            size: Of them.
            above: The rows of the grams without their last symbol; groups, for single
                symbols.
            symbols: The last ones; the place before the first symbol is the code
                after the end's.
        """
        level = self.levels[size - 1]
        scales, thresholds = (column[above] for column in self._above[size - 1])
        places = self._found(self._keys[size - 1], above, symbols)
        kept = places != UNKNOWN
        values = thresholds.astype(np.float64)
        values[kept] = np.maximum(level.counts[places[kept]], 0)
        counted = (above != UNKNOWN) & (scales > 0)
        places = np.where(counted, places, UNKNOWN)
        return Drawn(places, values, scales.astype(np.float64), counted)

    def _parts(self, group: int, codes: IntArray, first: int) -> list[_Part]:
        """Return what was drawn of the parts of runs that begin at one place."""
        length = codes.shape[1]
        rows, found = np.full(len(codes), group), []
        for size in range(1, min(len(self.levels), length - first) + 1):
            own = codes[:, first : first + size]
            part = self.child(size, rows, own[:, -1])
            rows, counted = part.places, part.counted.copy()
            for before in range(first):  # the same gram says no more a second time
                same = codes[:, before : before + size] == own
                counted &= ~same.all(axis=1)
            found.append((part.values, part.scales, counted))
        return found

    def _found(self, keys: IntArray, rows: IntArray, symbols: IntArray) -> IntArray:
        """Return the rows of the next level's grams; unknown where there is none."""
        if not len(keys):
            return np.full(len(rows), UNKNOWN)
        wanted = np.where(rows == UNKNOWN, UNKNOWN, rows * self._base + symbols)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[places] == wanted, places, UNKNOWN)

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
