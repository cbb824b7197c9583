"""Published grams: counts of short runs, and a Markov chain for longer ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from mechanisms.scales.noises import LAPLACE, Noise
from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray, PublicFacts, Table
from release.contract.rho.noise_facts import noise_facts, noise_in
from release.contract.sequence_domain import SequenceDomain
from release.sequences.contract import Estimate, Run
from release.sequences.estimation.bands import Bands
from release.sequences.estimation.chains import (
    Chains,
    GramLevel,
    NextSymbols,
    Tails,
    spread,
)
from release.sequences.estimation.expansion import expanded
from release.sequences.estimation.gram_ends import GramEnds
from release.sequences.estimation.likeness import alike, all_alike
from release.sequences.estimation.path_ends import PathEnds
from release.sequences.estimation.paths import PathTree
from release.sequences.estimation.sample_ends import SampleEnds, least_periods

LOST_DEVIATION: Final = 1.5
"""Of the first format: a run's share beyond the cut may be off by so much of that
before it."""

LOST_ROOT: Final = 0.1
"""Or by so many square roots of that share, if that is more."""


DOUBT: Final = 0.3
"""Shrinkage towards 0, against this part of a count's squared error v: c becomes c^3 /
(c^2 + DOUBT v). Chosen on made-up logs of eleven shapes
(docs/sequences-accuracy.md)."""

_LEAST: Final = 1e-12

SAMPLED: Final = "sampled"
"""Manifests say this where places of a unit were sampled; the first format counted the
first ones, and says nothing."""


@dataclass(frozen=True)
class NgramModel:
    """Noisy counts of grams that begin at each unit's first places.

    Attributes:
        domain: What the release ranges over.
        order: n, the most symbols of a gram.
        cut: How many places of each unit were counted, the start among them.
        bands: Noisy lengths.
        scale: Of the noise of single symbols.
        threshold: The least noisy count of a single symbol that was kept.
        levels: Grams of 1, 2, ... symbols.
        noise: The kind of all draws.

    Source: docs/proofs/ngram.md.
    """

    domain: SequenceDomain
    order: int
    cut: int
    bands: Bands
    scale: float
    threshold: int
    levels: tuple[GramLevel, ...]
    noise: Noise = LAPLACE

    @classmethod
    def rebuilt(
        cls,
        domain: SequenceDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "NgramModel":
        """Return the model that wrote these facts and tables."""
        scale = float(str(facts["lengths_scale"]))
        bands = Bands.rebuilt(
            domain.max_length, domain.groups, tables["lengths"], scale
        )
        return cls(
            domain=domain,
            order=int(str(facts["order"])),
            cut=int(str(facts["cut"])),
            bands=replace(bands, sampled=facts.get("places") == SAMPLED),
            scale=float(str(facts["scale"])),
            threshold=int(str(facts["threshold"])),
            levels=_levels(tables["grams"]),
            noise=noise_in(facts),
        )

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return "ngram"

    def facts(self) -> PublicFacts:
        """Return the cut, the order, scales and the first threshold."""
        first = {"places": SAMPLED} if self.bands.sampled else {}
        return {
            **first,
            "order": self.order,
            "cut": self.cut,
            "scale": self.scale,
            "threshold": self.threshold,
            "lengths_scale": self.bands.scale,
            **noise_facts(self.noise),
        }

    def tables(self) -> Mapping[str, Table]:
        """Return one row a kept gram, and one a group and band of lengths.

        A gram's ``parent`` is the row of the gram without its last symbol; of single
        symbols, the group. ``child_scale`` is that of its children's noise, 0 where
        they were not counted; ``child_threshold`` the least count of one that is kept.
        """
        return {"grams": _rows(self.levels), "lengths": self.bands.table()}

    def paths(self) -> PathTree:
        """Return the chain's tree of paths from the start, level by level."""
        return self._as_read._paths  # noqa: SLF001 - of its own kind

    def lengths(self) -> Bands:
        """Return the noisy lengths."""
        return self._as_read.bands

    def occurrences(self, runs: Sequence[Run]) -> list[Estimate]:
        """Return how often each run occurs: start positions in all sequences."""
        if self.noise.has_l2:
            return self._as_read.occurrences(runs)
        values = np.zeros(len(runs))
        widths = np.zeros(len(runs))
        lengths = np.array([len(run) for run in runs], dtype=np.int64)
        for length in np.unique(lengths).tolist():
            own = np.flatnonzero(lengths == length)
            codes = np.array([runs[place] for place in own.tolist()], dtype=np.int64)
            if 0 < length <= self.domain.max_length:  # longer runs are in no sequence
                values[own], widths[own] = self._occurrences(codes)
        return [
            Estimate(value, width)
            for value, width in zip(values.tolist(), widths.tolist(), strict=True)
        ]

    @cached_property
    def _as_read(self) -> "NgramModel":
        """The model with scales of Laplace noise as wide, which estimates read."""
        if not self.noise.has_l2:
            return self
        return replace(
            self,
            bands=replace(self.bands, scale=alike(self.bands.scale, self.noise)),
            scale=alike(self.scale, self.noise),
            levels=tuple(gram_level_as_read(one, self.noise) for one in self.levels),
            noise=LAPLACE,
        )

    @cached_property
    def chains(self) -> Chains:
        """What follows what, from the noisy grams alone."""
        chains = Chains(self.domain, self.order, self.bands, self.cut)
        chains.add_singles(self.levels[0], self.scale, self.threshold)
        for above, level in pairwise(self.levels):
            chains.add(above, level)
        return chains

    @cached_property
    def _paths(self) -> PathTree:
        tree = expanded(self.chains, self.bands)
        if not self.bands.sampled:  # the first format tells what was told before
            return tree
        return replace(tree, mosts=PathEnds(self._ends, self._sample_ends).of(tree))

    def _occurrences(self, codes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return estimates and half-widths of runs of one length, all groups summed."""
        if not self.bands.sampled:
            return self._of_first_places(codes)
        runs, length = codes.shape
        every = self.bands.starts(length)
        counted = self.bands.starts(length, self._sample_ends.places)
        values, ends, squares = np.zeros(runs), np.zeros((2, runs)), np.zeros((2, runs))
        for group in range(self.domain.groups):
            factor = every[group] / counted[group] if counted[group] > 0 else 1.0
            found, noise = self._in_group(group, codes)
            values += factor * self._shrunk(found, noise)
            own, off = self._between(group, codes, (found, noise))
            ends += own
            squares += np.square(off)
        low, high = ends[0] - np.sqrt(squares[0]), ends[1] + np.sqrt(squares[1])
        return values, np.maximum(values - low, high - values)

    def _between(
        self, group: int, codes: IntArray, told: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return between what runs of one group lie, by what may stand elsewhere.

        The chain draws towards what it knows of others; upper ends say what was drawn.

        Args:
            group: Of the split.
            codes: (runs, symbols).
            told: How often they begin at the counted places, and the error squared.

        Returns:
            (2, runs): the least and the most, if what is told is right; and how far
            each may be off.
        """
        found, noise = told
        every, own = self._sample_ends, WEIGHTED_QUANTILE * np.sqrt(noise)
        long = every.in_long(group)
        most, surely = self._ends.of(group, codes, long)
        sampled = WEIGHTED_QUANTILE * np.sqrt(np.clip(found, 0, long))
        off = np.hypot(own, sampled)
        up, over = np.maximum(found + own, most), np.maximum(found + off, surely)
        periods = least_periods(codes)
        ends, wrong = np.zeros((2, len(codes))), np.zeros((2, len(codes)))
        for period in np.unique(periods).tolist():
            rows, shape = periods == period, (codes.shape[1], period)
            low, less = every.least(group, shape, found[rows])
            lower, _ = every.least(group, shape, (found - off)[rows])
            high, _ = every.most(group, shape, found[rows])
            higher, more = every.most(group, shape, over[rows])
            elsewhere = higher + more - over[rows]
            ends[:, rows] = low, high
            wrong[:, rows] = np.hypot(low - lower, less), up[rows] + elsewhere - high
        return ends, wrong

    def _of_first_places(self, codes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the same of a release of the first format, as it was told then."""
        runs, length = codes.shape
        every = self.bands.starts(length)
        counted = self.bands.starts(length, max(1, self.cut - 1))
        values, variances = np.zeros(runs), np.zeros(runs)
        for group in range(self.domain.groups):
            factor = every[group] / counted[group] if counted[group] > 0 else 1.0
            found, noise = self._in_group(group, codes)
            values += factor * found
            lost = self._lost(found, every[group], counted[group])
            variances += factor**2 * noise + np.square(lost)
        return values, WEIGHTED_QUANTILE * np.sqrt(variances)

    @cached_property
    def _sample_ends(self) -> SampleEnds:
        return SampleEnds(self.bands, max(1, self.cut - 1))

    @cached_property
    def _ends(self) -> GramEnds:
        domain = self.domain
        return GramEnds(
            self.levels, self.scale, self.threshold, domain.symbols, domain.groups
        )

    def _shrunk(self, found: FloatArray, variances: FloatArray) -> FloatArray:
        """Return estimates drawn towards 0, the more the less they are sure."""
        squares = np.square(found)
        sums = np.maximum(squares + DOUBT * variances, _LEAST)
        return np.asarray(found * squares / sums)

    def _lost(self, found: FloatArray, every: float, counted: float) -> FloatArray:
        """Return the half-width of how often runs begin where nobody counted."""
        shares = np.clip(found / max(counted, 1.0), 0, 1)
        shares = np.maximum(LOST_DEVIATION * shares, LOST_ROOT * np.sqrt(shares))
        return np.asarray(np.maximum(every - counted, 0) * shares)

    def _in_group(self, group: int, codes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return how often runs begin at the counted places, and the error squared."""
        runs, length = codes.shape
        values = self.chains.singles[group, codes[:, 0]].copy()
        variances = np.square(self.chains.single_deviations[group, codes[:, 0]])
        nothing = np.zeros(runs, dtype=np.int64)
        tails = Tails(nothing + group, nothing, nothing)
        tails = self.chains.longer(tails, codes[:, 0])
        for place in range(1, length):
            steps = self.chains.steps(tails, codes[:, place : place + 1])
            variances = self._spread(values, variances, steps, place)
            probabilities, whole = steps.probabilities[:, 0], steps.used[:, 0] == place
            # a measured count may be raised by noise, a probability is 1 at the most
            values *= np.where(whole, probabilities, np.minimum(1, probabilities))
            tails = self.chains.longer(tails, codes[:, place])
        return values, variances

    def _spread(
        self,
        values: FloatArray,
        variances: FloatArray,
        following: NextSymbols,
        symbols: int,
    ) -> FloatArray:
        """Return the squared error after one more step from a run of so many symbols.

        That of a product of two uncertain factors.
        """
        wrong = spread(
            following, self.chains.memory_deviations(following.used, symbols)
        )[:, 0]
        own = np.square(values) + variances
        return np.asarray(
            variances * np.square(following.probabilities[:, 0]) + own * wrong
        )


_NO_GRAMS: Final = GramLevel(
    parents=np.zeros(0, dtype=np.int64),
    symbols=np.zeros(0, dtype=np.int64),
    counts=np.zeros(0, dtype=np.int64),
    scales=np.zeros(0),
    thresholds=np.zeros(0, dtype=np.int64),
)


def gram_level_as_read(level: GramLevel, noise: Noise) -> GramLevel:
    """Return a level of grams with scales of Laplace noise as wide."""
    return replace(level, scales=all_alike(level.scales, noise))


def _rows(levels: Sequence[GramLevel]) -> Table:
    sizes = [len(level.counts) for level in levels]
    firsts = np.cumsum([0, *sizes])
    above = [0, 0, *firsts[1:-1].tolist()]  # parents of single symbols are groups
    parents = [level.parents + above[place] for place, level in enumerate(levels)]
    return {
        "length": np.repeat(np.arange(1, len(levels) + 1), sizes),
        "parent": np.concatenate(parents),
        "symbol": np.concatenate([level.symbols for level in levels]),
        "count": np.concatenate([level.counts for level in levels]),
        "child_scale": np.concatenate([level.scales for level in levels]),
        "child_threshold": np.concatenate([level.thresholds for level in levels]),
    }


def _levels(rows: Table) -> tuple[GramLevel, ...]:
    lengths = np.asarray(rows["length"], np.int64)
    ends = np.flatnonzero(np.diff(lengths)) + 1
    firsts = [0, *ends.tolist(), len(lengths)]
    levels = []
    for place, (first, end) in enumerate(pairwise(firsts)):
        own = slice(first, end)
        above = firsts[place - 1] if place else 0
        levels.append(
            GramLevel(
                np.asarray(rows["parent"], np.int64)[own] - above,
                np.asarray(rows["symbol"], np.int64)[own],
                np.asarray(rows["count"], np.int64)[own],
                np.asarray(rows["child_scale"], np.float64)[own],
                np.asarray(rows["child_threshold"], np.int64)[own],
            )
        )
    if len(levels[-1].scales) and levels[-1].scales.max() > 0:
        levels.append(_NO_GRAMS)  # its grams were counted, and none was kept
    return tuple(levels)
