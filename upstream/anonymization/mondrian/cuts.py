"""Where partitions may be cut along one column, and which cut is best."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from upstream.anonymization.arrays import Codes, Flags, Floats, Ints
from upstream.anonymization.columns.classes import runs_of
from upstream.anonymization.columns.columns import Domain

Rule = Literal["gain", "median"]
"""Which cut of a column is taken, and which column first.

``median``: the possible cut nearest to the median, of the column that is generalized
most (LeFevre et al. 2006). ``gain``: the cut that lowers the loss most.
"""

WHOLE = np.iinfo(np.int64).max
"""A quota: all rows of the value at the cut go left."""


@dataclass(frozen=True, slots=True)
class CutRules:
    """How partitions are cut.

    Attributes:
        rule: Which cut is taken.
        is_relaxed: Whether rows of one value may go to both sides (columns in an order
            only; those with a hierarchy are always cut between its values).
        least: Rows that each side must have.
    """

    rule: Rule
    is_relaxed: bool
    least: int


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """The best cut of each partition along one column.

    Attributes:
        low: By partition: its first code.
        high: Its last code.
        after: The code after which it is cut.
        quota: How many rows of that code go left; ``WHOLE`` if all do.
        scores: How good the cut is; minus infinity where there is none.
    """

    low: Ints
    high: Ints
    after: Ints
    quota: Ints
    scores: Floats

    def kept(self, which: Flags) -> "Cuts":
        """Return the cuts of some partitions."""
        return Cuts(
            low=self.low[which],
            high=self.high[which],
            after=self.after[which],
            quota=self.quota[which],
            scores=self.scores[which],
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Rows of a partition with one code, and what lies left of the cut after them.

    Attributes:
        partitions: By run.
        codes: By run, rising within a partition.
        counts: Rows of the run.
        left: Rows of the partition up to the run.
        first: By partition: its first run.
        last: Its last run.
        sizes: By partition: its rows.
    """

    partitions: Ints
    codes: Ints
    counts: Ints
    left: Ints
    first: Ints
    last: Ints
    sizes: Ints


def best_cuts(
    partitions: Ints, sizes: Ints, codes: Codes, domain: Domain, rules: CutRules
) -> Cuts:
    """Return the best cut of each partition along a column.

    Args:
        partitions: By row: its partition, from 0.
        sizes: By partition: its rows.
        codes: By row: its value.
        domain: Of the column.
        rules: How partitions are cut.
    """
    runs = _runs(partitions, sizes, codes, domain.size)
    low, high = runs.codes[runs.first], runs.codes[runs.last]
    losses = domain.losses(low, high)
    cuts = Cuts(
        low=low,
        high=high,
        after=low.copy(),  # written below
        quota=np.full(len(low), WHOLE),
        scores=np.full(len(low), -np.inf),
    )
    places = _possible(runs, domain, low, high, rules.least)
    if len(places):
        _take_best(
            cuts, runs, places, _gains(runs, domain, cuts, losses, places), rules
        )
    if rules.rule == "median":
        found = np.isfinite(cuts.scores)
        cuts.scores[found] = losses[found]
    if rules.is_relaxed and domain.is_divisible:
        _divide(cuts, runs, domain, losses, rules)
    return cuts


def _runs(partitions: Ints, sizes: Ints, codes: Codes, values: int) -> _Runs:
    """Return the runs of partitions."""
    key, counts = runs_of(partitions * values + codes, len(sizes) * values)
    of_partition = key // values
    first = np.flatnonzero(np.diff(of_partition, prepend=-1))
    before = np.cumsum(sizes) - sizes
    left = np.cumsum(counts) - before[of_partition]
    last = np.append(first[1:], len(key)) - 1
    return _Runs(of_partition, key % values, counts, left, first, last, sizes)


def _possible(runs: _Runs, domain: Domain, low: Ints, high: Ints, least: int) -> Ints:
    """Return the runs after which both sides have enough rows."""
    of = runs.partitions
    enough = (runs.left >= least) & (runs.sizes[of] - runs.left >= least)
    places = np.flatnonzero(enough & (runs.left < runs.sizes[of]))
    of = of[places]
    ends = runs.codes[places], runs.codes[np.minimum(places + 1, len(runs.codes) - 1)]
    cut: Ints = places[np.asarray(domain.is_cut(low[of], high[of], *ends), bool)]
    return cut


def _gains(
    runs: _Runs, domain: Domain, cuts: Cuts, losses: Floats, places: Ints
) -> Floats:
    """Return by how much cuts lower the loss of the column, in rows."""
    of, left = runs.partitions[places], runs.left[places]
    size = runs.sizes[of]
    lost_left = domain.losses(cuts.low[of], runs.codes[places])
    lost_right = domain.losses(runs.codes[places + 1], cuts.high[of])
    gains: Floats = size * losses[of] - left * lost_left - (size - left) * lost_right
    return gains


def _take_best(
    cuts: Cuts, runs: _Runs, places: Ints, gains: Floats, rules: CutRules
) -> None:
    """Write down the best of the cuts of each partition; of equals, the lowest."""
    of = runs.partitions[places]
    uneven = np.abs(2 * runs.left[places] - runs.sizes[of])
    keys = (uneven, -gains) if rules.rule == "gain" else (uneven,)
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    best = np.ones(len(places), bool)
    for key in reversed(keys):
        limited = np.where(best, key, np.inf)
        least = np.minimum.reduceat(limited, starts)
        best &= limited == np.repeat(least, np.diff(starts, append=len(places)))
    found = np.flatnonzero(best)
    found = found[np.diff(of[found], prepend=-1) != 0]
    cuts.after[of[found]] = runs.codes[places[found]]
    cuts.scores[of[found]] = gains[found]


def _divide(
    cuts: Cuts, runs: _Runs, domain: Domain, losses: Floats, rules: CutRules
) -> None:
    """Cut in the middle of the rows where that is better than between two values."""
    half = runs.sizes // 2
    middle = _middle(runs, half)
    code = runs.codes[middle]
    next_code = runs.codes[np.minimum(middle + 1, len(runs.codes) - 1)]
    is_within = runs.left[middle] > half
    right_from = np.where(is_within, code, next_code)
    right = runs.sizes - half
    gains = runs.sizes * losses - half * domain.losses(cuts.low, code)
    gains -= right * domain.losses(np.minimum(right_from, cuts.high), cuts.high)
    possible = (half >= rules.least) & (cuts.low < cuts.high)
    # By gain, a division comes after all cuts between values, of any column.
    last = gains - 2.0 * runs.sizes.sum()
    scores = np.where(possible, last if rules.rule == "gain" else losses, -np.inf)
    taken = scores > cuts.scores if rules.rule == "gain" else possible
    quota = half - (runs.left[middle] - runs.counts[middle])
    cuts.after[taken] = code[taken]
    cuts.quota[taken] = quota[taken]
    cuts.scores[taken] = scores[taken]


def _middle(runs: _Runs, half: Ints) -> Ints:
    """Return by partition the run in which the last of the first half of rows lies."""
    before: Flags = runs.left < np.maximum(half, 1)[runs.partitions]
    found: Ints = runs.first + np.add.reduceat(before, runs.first, dtype=np.int64)
    return found
