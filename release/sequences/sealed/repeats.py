"""How many units share their beginnings, and short runs, with many others: raw sums.

Both are sums of what cells hold above a bar. A prefix tree keeps about what beginnings
hold above its threshold, n-grams what runs hold above theirs.
"""

from dataclasses import dataclass

import numpy as np

from privacy.counts import IntArray
from privacy.sequences import SequenceCounts
from release.sequences.sealed.sampling import sampled_places


@dataclass(frozen=True, slots=True)
class Bars:
    """What counts as shared; public.

    Attributes:
        depth: Symbols of a beginning. Units of fewer symbols are not counted.
        beginning: Units that share a beginning, above which more are counted.
        size: Symbols of a run, at most ``depth``.
        run: Units that share a run, above which more are counted.
    """

    depth: int
    beginning: int
    size: int
    run: int


def repeats(raw: SequenceCounts, codes: int, bars: Bars) -> IntArray:
    """Return the sum and the difference of units above both bars.

    A unit is in the cell of its group and its first ``depth`` symbols, and in that of
    its group and the run at one sampled place of it.

    Args:
        raw: All sequences.
        codes: How many symbols there are.
        bars: Public or noisy.

    Neighbouring relation: add or remove all rows of one unit. It moves what either
    kind of cell holds above its bar by 0 or 1, a and b: so both numbers together by
    a + b + |a - b|, at most 2.
    """
    lengths = np.diff(raw.starts)
    own = np.flatnonzero(lengths >= bars.depth)
    firsts, units = raw.starts[own], raw.counts[own]
    _, places = sampled_places(lengths[own] - bars.size + 1, raw.phases[own], 1)
    begun = _above(_cells(raw, own, firsts, bars.depth, codes), units, bars.beginning)
    met = _above(_cells(raw, own, firsts + places, bars.size, codes), units, bars.run)
    return np.array([begun + met, begun - met], dtype=np.int64)


def _cells(
    raw: SequenceCounts, own: IntArray, places: IntArray, size: int, codes: int
) -> IntArray:
    """Return a number for each sequence's group and its symbols from a place on.

    Two are alike only where both are. Numbers are made dense at each step, so that none
    grows too large.
    """
    cells = raw.groups[own]
    for step in range(size):
        keys = cells * codes + raw.symbols[places + step]
        _, cells = np.unique(keys, return_inverse=True)
    return np.asarray(cells, dtype=np.int64)


def _above(cells: IntArray, units: IntArray, bar: int) -> int:
    """Return what all cells hold above the bar."""
    sums = np.zeros(int(cells.max(initial=0)) + 1, dtype=np.int64)
    np.add.at(sums, cells, units)
    return int(np.maximum(sums - bar, 0).sum())
