"""What follows what: a Markov chain of varying order, learnt from noisy grams."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.bands import Bands
from release.sequences.estimation.likely_grams import likely_children, likely_singles

MAX_KEYS: Final = 2**62
"""Contexts are numbered below this."""

PUSHED: Final = math.log(10)
"""Noise is below so many of its scales, negated, once in twenty times."""

MEMORY_DEVIATION: Final = 2.0
"""Standard deviation of a probability p after a shortened context, from that after the
whole path: so many times sqrt(p (1 - p)), over the context's length plus 1."""

WIDER: Final = 1.25
"""Factor on the noise's variance of a kept count: counts are kept where their noise was
high (selection bias)."""

GAIN_DEVIATION: Final = 2.0
"""Or so many times the mean change by one more symbol of context, if that is more."""

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GramLevel:
    """The kept grams of one length, in canonical order: by parent, then symbol.

    Attributes:
        parents: The place of each among the grams that are shorter by its last symbol;
            for single symbols, the group of the split.
        symbols: Its last symbol; ``domain.end`` where sequences end, and -1 for the
            place before the first symbol.
        counts: As drawn.
        scales: Of the noise of its children; 0 where they were not counted.
        thresholds: The least noisy count of a child that was kept; else 0.
    """

    parents: IntArray
    symbols: IntArray
    counts: IntArray
    scales: FloatArray
    thresholds: IntArray


@dataclass(frozen=True, slots=True)
class _Contexts:
    """Grams of one length whose next symbols were counted.

    Attributes:
        keys: Ascending.
        probabilities: (contexts, symbols + 1), of each next symbol, the end last.
        kept: Of the same shape: whether the count of that symbol was kept.
        deviations: (contexts, 2): how far each probability may lie from that among the
            units, in standard deviations, where the count was not kept, and where it
            was.
    """

    keys: IntArray
    probabilities: FloatArray
    kept: BoolArray
    deviations: FloatArray

    def deviations_of(self, rows: IntArray, symbols: IntArray) -> FloatArray:
        """Return the deviations of the probabilities of symbols after contexts."""
        return np.asarray(
            self.deviations[rows, self.kept[rows, symbols].astype(np.int64)]
        )


@dataclass(frozen=True, slots=True)
class Tails:
    """The last symbols of some paths.

    Attributes:
        groups: Of the split.
        tails: The last symbols as one number, in the chains' base.
        lengths: How many symbols that number holds.
    """

    groups: IntArray
    tails: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        """Return how many paths there are."""
        return len(self.groups)


@dataclass(frozen=True, slots=True)
class NextSymbols:
    """How likely some next symbols are: a row a context.

    Attributes:
        probabilities: Of each symbol.
        used: How many last symbols the longest context that was counted has; one
            column.
        deviations: Standard deviation of each probability, by noise and by what was not
            kept.
    """

    probabilities: FloatArray
    used: IntArray
    deviations: FloatArray


class Chains:
    """Gives probabilities of the next symbol, by the longest context that was counted.

    Grown level by level from noisy values alone, while a strategy measures and again
    when a model is rebuilt.

    Args:
        domain: Public.
        order: n, the longest gram.
        bands: Noisy lengths.
        cut: How many places of each unit are counted, the start among them.
    """

    def __init__(
        self, domain: SequenceDomain, order: int, bands: Bands, cut: int
    ) -> None:
        self.domain = domain
        self.order = order
        self.base = domain.symbols + 2
        self._bands = bands
        self._places = cut - 1
        self._contexts: list[_Contexts] = []
        self._gains: list[float] = []
        self._keys = np.arange(domain.groups, dtype=np.int64)
        self.estimates = np.zeros(0)
        self.singles = np.zeros((domain.groups, domain.symbols))
        self.single_deviations = self.singles
        self.first_scale = 0.0

    @property
    def depth(self) -> int:
        """How many symbols the longest counted grams have."""
        return len(self._contexts)

    def add_singles(self, level: GramLevel, scale: float, threshold: int) -> None:
        """Take grams of one symbol."""
        symbols, groups = self.domain.symbols, self.domain.groups
        counts = np.zeros((groups, symbols + 1))
        kept = np.zeros((groups, symbols + 1), dtype=np.bool_)
        slots = level.parents, np.where(level.symbols < 0, symbols, level.symbols)
        counts[slots] = level.counts
        kept[slots] = True
        places = self._bands.starts(1, self._places)
        missing = places - counts[:, :symbols].sum(axis=1)
        unseen = np.maximum((~kept[:, :symbols]).sum(axis=1), 1)
        fill = np.clip(missing / unseen, 0, threshold)
        singles = np.where(kept[:, :symbols], counts[:, :symbols], fill[:, None])
        if self._bands.sampled:
            drawn = counts[:, :symbols], kept[:, :symbols]
            singles = likely_singles(*drawn, places, (scale, threshold))
        self.singles = singles
        every = np.concatenate([singles, counts[:, symbols:]], axis=1)
        scales = np.full(groups, scale)
        spread = _deviations(scales, np.full(groups, threshold))
        own = kept[:, :symbols].astype(np.int64)
        self.single_deviations = np.take_along_axis(spread, own, axis=1)
        self._contexts.append(
            _Contexts(
                np.arange(groups, dtype=np.int64),
                _shares(every, np.full_like(every, 1 / (symbols + 1))),
                kept,
                spread / np.maximum(every.sum(axis=1), scale)[:, None],
            )
        )
        self._keys = self._child_keys(self._keys, level)
        self.estimates = np.asarray(level.counts, dtype=np.float64)
        self.first_scale = scale

    def add(self, above: GramLevel, level: GramLevel) -> None:
        """Take the next level: children of those grams above that have a scale."""
        counted = np.flatnonzero(above.scales > 0)
        keys = self._keys[counted]
        totals = self.estimates[counted]
        expected = self.probabilities(self._shorter(keys))
        ranks = np.searchsorted(counted, level.parents)
        counts = np.zeros_like(expected)
        counts[ranks, level.symbols] = level.counts
        known = totals * (1 - self._unended(keys, totals))
        noise = above.scales[counted], above.thresholds[counted]
        if self._bands.sampled:
            told = likely_children(counts, expected, (known, totals), noise)
        else:
            told = counts + _missing(known, counts, expected, noise[1])
        probabilities = told / np.maximum(totals, 1)[:, None]
        order, kept = np.argsort(keys), counts > 0
        scales = above.scales[counted]
        deviations = _deviations(scales, above.thresholds[counted])
        deviations /= np.maximum(totals, scales)[:, None]
        changed = np.square(probabilities - expected) - np.square(deviations[:, 1:])
        self._gains.append(_gain(np.where(kept, changed, 0), expected, totals))
        self._contexts.append(
            _Contexts(keys[order], probabilities[order], kept[order], deviations[order])
        )
        self._keys = self._child_keys(self._keys, level)
        self.estimates = totals[ranks] * probabilities[ranks, level.symbols]

    def best_next(self) -> FloatArray:
        """Return, for each gram of the last level, how probable its likeliest next is.

        By what follows its longest ending that was counted.
        """
        probabilities = self.probabilities(self._shorter(self._keys))
        return np.asarray(
            probabilities[:, : self.domain.symbols].max(axis=1, initial=0)
        )

    def _unended(self, keys: IntArray, totals: FloatArray) -> FloatArray:
        """Return the share of each gram's walks of which nobody knows what follows."""
        unended = self._bands.unended(self.depth, self._places)
        groups = keys // self.base**self.depth
        sums = np.bincount(groups, totals, minlength=len(unended))
        shares = np.minimum(1, unended / np.maximum(sums, 1))
        return np.asarray(shares[groups], dtype=np.float64)

    def _shorter(self, keys: IntArray) -> Tails:
        """Return contexts of the last level without their first symbol."""
        length = self.depth
        tails = keys % self.base ** (length - 1)
        lengths = np.full(len(keys), length - 1, dtype=np.int64)
        return Tails(keys // self.base**length, tails, lengths)

    def probabilities(self, contexts: Tails) -> FloatArray:
        """Return probabilities of the next symbol, the end last; one row a context."""
        found = np.empty((len(contexts), self.domain.symbols + 1))
        for level, rows, where in self._found(contexts):
            found[where] = self._contexts[level].probabilities[rows]
        return found

    def steps(self, contexts: Tails, symbols: IntArray) -> NextSymbols:
        """Return how likely next symbols are, and what that rests on.

        Args:
            contexts: One a row.
            symbols: Of the next places; (contexts, symbols), or a row for all.
        """
        shape = len(contexts), symbols.shape[-1]
        wanted = np.broadcast_to(symbols, shape)
        found = NextSymbols(
            np.empty(shape), np.empty((shape[0], 1), dtype=np.int64), np.empty(shape)
        )
        for level, rows, where in self._found(contexts):
            known, own = self._contexts[level], wanted[where]
            found.probabilities[where] = known.probabilities[rows[:, None], own]
            found.used[where] = level
            found.deviations[where] = known.deviations_of(rows[:, None], own)
        return found

    def memory_deviations(self, used: IntArray, symbols: int) -> FloatArray:
        """Return how far a probability may lie from that after all of a path.

        In deviations of one unit's next step, sqrt(p (1 - p)), for contexts that hold
        only the last ``used`` of the path's symbols: the more, the less was remembered,
        and the more a symbol of memory changed where it was counted.
        """
        gains = np.array([*self._gains, *self._gains[-1:], 0.0])
        gain = gains[np.minimum(used, len(gains) - 2)]
        far = np.maximum(MEMORY_DEVIATION / (1 + used), GAIN_DEVIATION * gain)
        return np.where(used < symbols, far, 0.0)

    def longer(self, contexts: Tails, symbols: IntArray) -> Tails:
        """Return contexts with a symbol more; what no gram reads is forgotten."""
        most = self.order - 1
        tails = (contexts.tails * self.base + symbols) % self.base**most
        return Tails(contexts.groups, tails, np.minimum(contexts.lengths + 1, most))

    def _found(self, contexts: Tails) -> list[tuple[int, IntArray, IntArray]]:
        """Return (level, rows there, places) for contexts by their longest ending."""
        left = np.arange(len(contexts))
        found = []
        for level in range(len(self._contexts) - 1, -1, -1):
            own = left[contexts.lengths[left] >= level]
            size = self.base**level
            keys = contexts.groups[own] * size + contexts.tails[own] % size
            known = self._contexts[level].keys
            if not len(known) or not len(own):
                continue
            rows = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            hit = known[rows] == keys
            found.append((level, rows[hit], own[hit]))
            left = np.setdiff1d(left, own[hit], assume_unique=True)
        return found

    def _child_keys(self, keys: IntArray, level: GramLevel) -> IntArray:
        codes = np.where(level.symbols < 0, self.base - 1, level.symbols)
        return np.asarray(keys[level.parents] * self.base + codes, dtype=np.int64)


def spread(following: NextSymbols, memory: FloatArray) -> FloatArray:
    """Return the squared error of probabilities p: of noise, and of the cut memory.

    The latter is in units of p (1 - p), where p may be more by its deviation. No
    probability is off by more than 1.

    Args:
        following: The probabilities.
        memory: Standard deviations by the cut memory, in sqrt(p (1 - p)); alike.
    """
    probabilities = np.clip(following.probabilities, 0, 1)
    more = np.maximum(
        probabilities, np.clip(following.probabilities + following.deviations, 0, 0.5)
    )
    model = np.square(memory) * more * (1 - more)
    return np.asarray(np.minimum(1, np.square(following.deviations) + model))


def _shares(counts: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return rows that sum to 1; where a row holds nothing, another."""
    counts = np.maximum(counts, 0)
    sums = counts.sum(axis=1, keepdims=True)
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1), otherwise)


def _gain(apart: FloatArray, expected: FloatArray, totals: FloatArray) -> float:
    """Return how far a symbol of memory moves probabilities, in sqrt(p (1 - p))."""
    whole = float((totals[:, None] * expected * (1 - expected)).sum())
    changed = float((totals[:, None] * apart).sum())
    return math.sqrt(min(1.0, max(0.0, changed) / whole)) if whole > 0 else 0.0


def _missing(
    totals: FloatArray, kept: FloatArray, expected: FloatArray, most: IntArray
) -> FloatArray:
    """Return what children have that were not kept: what the kept leave of the total.

    It is divided as after the longest shorter context; none has the threshold.
    """
    spare = np.where(kept > 0, 0, expected)
    sums = spare.sum(axis=1, keepdims=True)
    left = np.maximum(0, totals - kept.sum(axis=1))[:, None]
    shares = np.where(sums > 0, spare / np.where(sums > 0, sums, 1), 0)
    return np.asarray(np.minimum(left * shares, most[:, None]))


def _deviations(scales: FloatArray, thresholds: IntArray) -> FloatArray:
    """Return how far counts may lie from what is taken for them; a row a context.

    First of one that was not kept: it is below the threshold, or noise pushed it there,
    which it does so far once in twenty times. Then of a kept one: by its noise.
    """
    hidden = (thresholds + PUSHED * scales) / WEIGHTED_QUANTILE
    return np.column_stack((hidden, np.sqrt(2 * WIDER) * scales))
