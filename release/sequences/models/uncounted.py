"""How often runs may occur where a tree did not count: from noisy lengths and samples.

Everything here is post-processing of published numbers.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.bands import Bands, band_starts

SURE: Final = 2.5
"""Standard deviations of an upper end: several of them bound one run. No upper end of a
count is below one: a value far below 0 is noise, and leaves that much open."""


@dataclass(frozen=True)
class Sampled:
    """Noisy counts of the symbols at one sampled place of each unit.

    Attributes:
        counts: (bands of lengths, symbols), as drawn.
        scale: Of each draw.
    """

    counts: IntArray
    scale: float


@dataclass(frozen=True)
class Totals:
    """How often each symbol occurs in the first h symbols of all sequences.

    Attributes:
        values: Estimates; no bias, so they may be negative.
        deviations: Their standard deviations: of noise, and of the sample.
    """

    values: FloatArray
    deviations: FloatArray


def totals_of(sampled: Sampled, max_length: int) -> Totals:
    """Return totals of symbols: each unit's sample stands for its whole length.

    A unit of m symbols, c of them x, moves the total of x by m with probability c / m,
    and else by nothing: the variance is at most m c.
    """
    firsts = band_starts(max_length)
    lasts = np.append(firsts[1:], max_length + 1) - 1
    lengths = (firsts + lasts) / 2
    values = lengths @ sampled.counts
    units = np.maximum(sampled.counts, 0) + sampled.scale
    of_sample = np.square(lasts) @ units
    of_noise = 2 * sampled.scale**2 * float(np.square(lasts).sum())
    return Totals(values, np.sqrt(of_sample + of_noise))


@dataclass(frozen=True)
class UncountedBounds:
    """Upper bounds of how often symbols and runs stand where a tree did not count.

    Attributes:
        domain: Of the release.
        kept: (h + 1, symbols): kept units at each depth by symbol; row 0 is empty.
        ended: (h + 1,): kept ends below the nodes of each depth.
        everybody: Units in the tree.
        most_units: The upper end of that.
        bands: Noisy lengths, or None.
        totals: Of symbols, or None.
    """

    domain: SequenceDomain
    kept: FloatArray
    ended: FloatArray
    everybody: float
    most_units: float
    bands: Bands | None
    totals: Totals | None

    @cached_property
    def survivors(self) -> FloatArray:
        """Estimated units that have 0, 1, ..., h symbols or more."""
        if self.bands is None:
            return self._at_most(self.everybody)
        own = self.bands.survivors(self.everybody)
        known = self.kept.sum(axis=1)
        return np.asarray(np.maximum(np.append(own[:1], own), known))

    def _at_most(self, everybody: float) -> FloatArray:
        """Return how many units may have 0, 1, ..., h symbols: who has not ended."""
        gone = np.cumsum(np.append(0.0, self.ended[:-1]))
        return np.asarray(np.maximum(everybody - gone, 0.0))

    def of_runs(self, symbols: int) -> float:
        """Return how many runs of so many symbols may end where nobody counted."""
        kept = self.kept.sum(axis=1)
        spare = np.maximum(self._at_most(self.most_units) - kept, 0)
        room = float(spare[symbols:].sum())
        if self.bands is None:
            return room
        more = self.most_units / max(self.everybody, 1.0)
        spare = np.maximum(self.survivors * max(more, 1.0) - kept, 0)
        unsure = self.bands.starts_deviation(symbols) * math.sqrt(self.domain.groups)
        return min(room, float(spare[symbols:].sum()) + SURE * unsure)

    @cached_property
    def of_symbols(self) -> FloatArray:
        """How often each symbol may stand where nobody counted."""
        room = self.of_runs(1)
        if self.totals is None:
            return np.full(self.domain.symbols, room)
        deviations = self.totals.deviations
        most = np.maximum(self.totals.values + SURE * deviations, deviations)
        return np.asarray(np.clip(most - self.kept.sum(axis=0), 0.0, room))
