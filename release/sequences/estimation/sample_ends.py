"""Ends of how often runs begin at all places, given how often at the sampled ones.

Everything here is post-processing of published numbers.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray
from release.sequences.estimation.bands import Bands, band_starts


@dataclass(frozen=True)
class SampleEnds:
    """What sampled places leave open of the others, whatever stands there.

    Of a sequence of m symbols, ``places`` are sampled, or all. Over all samples a run
    begins at so large a part of its own places there: a run that stands in long
    sequences alone stands at many places for each that was sampled, one that stands in
    short ones alone at none more. Nothing that is published says which. So the most is
    that of the longest sequences as full of it as they may be, and the least that of
    the shortest.

    Attributes:
        bands: Noisy lengths.
        places: Of each unit that are sampled, at the most.
    """

    bands: Bands
    places: int

    def most(
        self, group: int, shape: tuple[int, int], sampled: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return how often runs begin at all places at the most.

        Args:
            group: Of the split.
            shape: The runs' symbols, and their least period.
            sampled: How often they begin at sampled places.

        Returns:
            That, if the noisy lengths are right; and by how much more if they are not.
        """
        own, more = self._survivors[group]
        found = self._filled(own, shape, sampled, longest=True)
        return found, self._filled(more, shape, sampled, longest=True) - found

    def least(
        self, group: int, shape: tuple[int, int], sampled: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return how often runs begin at all places at the least, as ``most`` does."""
        own, more = self._survivors[group]
        less = np.maximum(2 * own - more, 0)
        short = np.arange(1, len(own) + 1) <= self.places
        found = self._filled(own, shape, sampled, longest=False)
        lower = self._filled(np.where(short, more, less), shape, sampled, longest=False)
        return found, found - lower

    def in_long(self, group: int) -> float:
        """Return how many sampled places are of sequences that have others, too."""
        units = self.bands.units[group, self.places :]
        return float(units.sum()) * self.places

    def longer(self, group: int, symbols: int) -> float:
        """Return how many units have so many symbols or more, at the most."""
        _, most = self._survivors[group]
        return float(most[symbols - 1])

    def ended(self, group: int, symbols: int) -> float:
        """Return how many units have so many symbols, at the most."""
        firsts = band_starts(self.bands.max_length)
        band = int(np.searchsorted(firsts, symbols, side="right")) - 1
        more = WEIGHTED_QUANTILE * np.sqrt(2) * self.bands.scale
        return float(max(self.bands.counts[group, band], 0) + more)

    def _filled(
        self,
        survivors: FloatArray,
        shape: tuple[int, int],
        sampled: FloatArray,
        *,
        longest: bool,
    ) -> FloatArray:
        """Fill sequences with runs, the longest or the shortest first."""
        symbols, period = shape
        lengths = np.arange(1, len(survivors) + 1)
        units = survivors - np.append(survivors[1:], 0)
        room = np.where(lengths >= symbols, (lengths - symbols) // period + 1, 0)
        every = units * room
        seen = every * np.minimum(1, self.places / lengths)
        if longest:
            every, seen = every[::-1], seen[::-1]
        ends, wholes = np.append(0, seen.cumsum()), np.append(0, every.cumsum())
        inside = np.clip(sampled, 0, ends[-1])
        return np.asarray(np.interp(inside, ends, wholes) + sampled - inside)

    @cached_property
    def _survivors(self) -> list[tuple[FloatArray, FloatArray]]:
        """For each group, units of 1, 2, ... symbols or more, and their upper ends."""
        lengths = np.arange(1, self.bands.max_length + 1)
        firsts = band_starts(self.bands.max_length)
        lasts = np.append(firsts[1:], self.bands.max_length + 1) - 1
        summed = (lasts[None] >= lengths[:, None]).sum(axis=1)
        more = WEIGHTED_QUANTILE * np.sqrt(2 * summed) * self.bands.scale
        own = [units[::-1].cumsum()[::-1] for units in self.bands.units]
        return [(each, each + more) for each in own]


def least_periods(codes: IntArray) -> IntArray:
    """Return the least distance at which each run may begin again; (runs, symbols)."""
    length = codes.shape[1]
    found = np.full(len(codes), length)
    for step in range(length - 1, 0, -1):
        found[(codes[:, step:] == codes[:, :-step]).all(axis=1)] = step
    return found
