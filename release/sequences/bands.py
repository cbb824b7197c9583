"""How long sequences are: noisy counts of units in public bands of lengths."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from release.models.contract import FloatArray, IntArray

_SINGLE: Final = 8
"""Lengths up to this have a band each."""

_WIDENING: Final = 8
"""Beyond, a band holds about one in so many of its first length."""


def band_starts(max_length: int) -> IntArray:
    """Return the least length of each band; the maximal length is one of its own.

    Wide bands for long sequences: their noise would weigh most in sums of symbols.
    """
    firsts = [1]
    while (following := firsts[-1] + _width(firsts[-1])) < max_length:
        firsts.append(following)
    return np.unique(np.array([*firsts, max_length], dtype=np.int64))


def _width(first: int) -> int:
    return 1 if first <= _SINGLE else first // _WIDENING + 1


@dataclass(frozen=True)
class Bands:
    """Noisy lengths.

    Attributes:
        max_length: Lengths beyond count as this.
        counts: (groups, bands), as drawn.
        scale: Of each draw.
    """

    max_length: int
    counts: IntArray
    scale: float

    @cached_property
    def units(self) -> FloatArray:
        """Estimated units of each length 1..h, all groups apart; never negative."""
        firsts = band_starts(self.max_length)
        widths = np.diff(firsts, append=self.max_length + 1)
        each = np.maximum(self.counts, 0) / widths
        return np.repeat(each, widths, axis=1)

    def starts(self, symbols: int, cut: int | None = None) -> FloatArray:
        """Return how many runs of so many symbols there are, by group.

        Args:
            symbols: Of a run.
            cut: Of each sequence so many first places alone; None: all.
        """
        lengths = np.arange(1, self.max_length + 1)
        places = np.maximum(lengths - symbols + 1, 0)
        if cut is not None:
            places = np.minimum(places, cut)
        return np.asarray(self.units @ places, dtype=np.float64)

    def unended(self, symbols: int, cut: int) -> FloatArray:
        """Return of how many counted runs nobody knows what follows, by group.

        Those that end with a sequence's h-th symbol, if they begin at a counted place.

        Args:
            symbols: Of a run.
            cut: Of each sequence so many first places are counted.
        """
        first = self.max_length - symbols + 1
        known = self.units[:, -1]
        return known if 1 <= first <= cut else np.zeros_like(known)
