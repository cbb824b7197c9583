"""How long sequences are: noisy counts of units in public bands of lengths."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from release.contract.models import FloatArray, IntArray, Table

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


def nearest(values: NDArray[np.generic], total: float) -> FloatArray:
    """Return the nearest numbers, none negative, that sum to a total.

    What is left out of sums by taking negative ones for 0 would make them too large.
    """
    total, own = max(total, 0.0), np.asarray(values, dtype=np.float64)
    falling = np.sort(own)[::-1]
    shifts = (falling.cumsum() - total) / np.arange(1, len(own) + 1)
    shift = shifts[np.flatnonzero(falling >= shifts)[-1]]
    return np.asarray(np.maximum(own - shift, 0.0))


@dataclass(frozen=True)
class Bands:
    """Noisy lengths.

    Attributes:
        max_length: Lengths beyond count as this.
        counts: (groups, bands), as drawn.
        scale: Of each draw.
        sampled: Whether a keyed sample of places is counted where not all are; else
            it is the first ones, as releases of the first format did.
    """

    max_length: int
    counts: IntArray
    scale: float
    sampled: bool = True

    @classmethod
    def rebuilt(
        cls, max_length: int, groups: int, table: Table, scale: float
    ) -> "Bands":
        """Return what wrote a table."""
        counts = np.asarray(table["count"], np.int64).reshape(groups, -1)
        return cls(max_length, counts, scale)

    def table(self) -> Table:
        """Return one row a group and band: its least length, and its count."""
        firsts, groups = band_starts(self.max_length), len(self.counts)
        return {
            "group": np.repeat(np.arange(groups), len(firsts)),
            "first": np.tile(firsts, groups),
            "count": self.counts.reshape(-1),
        }

    @cached_property
    def units(self) -> FloatArray:
        """Estimated units of each length 1..h, all groups apart; never negative."""
        firsts = band_starts(self.max_length)
        widths = np.diff(firsts, append=self.max_length + 1)
        each = self._fitted() / widths
        return np.repeat(each, widths, axis=1)

    def _fitted(self) -> FloatArray:
        """Return counts without negative ones, which sum to what they summed to."""
        if not self.sampled:
            return np.maximum(self.counts, 0).astype(np.float64)
        totals = self.counts.sum(axis=1, dtype=np.float64)
        own = nearest(totals, float(totals.sum()))
        rows = zip(self.counts, own.tolist(), strict=True)
        return np.array([nearest(row, total) for row, total in rows])

    @property
    def totals_variance(self) -> float:
        """Variance of the noise in all counts of one group together."""
        return 2.0 * self.scale**2 * float(self.counts.shape[1])

    def survivors(self, total: float) -> FloatArray:
        """Return how many units have 1, 2, ..., h symbols or more, all groups.

        Args:
            total: How many units there are.
        """
        firsts = band_starts(self.max_length)
        widths = np.diff(firsts, append=self.max_length + 1)
        each = nearest(self.counts.sum(axis=0), total) / widths
        return np.asarray(np.repeat(each, widths)[::-1].cumsum()[::-1])

    def starts(self, symbols: int, cut: int | None = None) -> FloatArray:
        """Return how many runs of so many symbols there are, by group.

        Args:
            symbols: Of a run.
            cut: So many places of each sequence alone; None: all.
        """
        lengths = np.arange(1, self.max_length + 1)
        places = np.maximum(lengths - symbols + 1, 0)
        if cut is not None and self.sampled:
            places = places * np.minimum(1.0, cut / lengths)
        elif cut is not None:
            places = np.minimum(places, cut)
        return np.asarray(self.units @ places, dtype=np.float64)

    def starts_deviation(self, symbols: int) -> float:
        """Return the standard deviation of ``starts`` of one group: of the noise."""
        firsts = band_starts(self.max_length)
        lasts = np.append(firsts[1:], self.max_length + 1) - 1
        places = np.maximum((firsts + lasts) / 2 - symbols + 1, 0)
        return math.sqrt(2 * float(np.square(places).sum())) * self.scale

    def unended(self, symbols: int, cut: int) -> FloatArray:
        """Return of how many counted runs nobody knows what follows, by group.

        Those that end with a sequence's h-th symbol, if they begin at a counted place.

        Args:
            symbols: Of a run.
            cut: So many places of each sequence are counted.
        """
        first = self.max_length - symbols + 1
        known = self.units[:, -1]
        if self.sampled:
            share = min(1.0, cut / self.max_length) if first >= 1 else 0.0
            return np.asarray(known * share)
        return known if 1 <= first <= cut else np.zeros_like(known)
