"""Which tree to measure: fixed rules of public facts, or of what is published already.

Costs are mean variances of running sums (or boxes) in units of the variance that a
single level would have at the whole loss; a level at a share s of it has 1/s^2, or 1/s
where the loss is a rho: 1/s to a ``power``. A
running sum needs half of the top level's nodes on average, and, through least squares,
a sixth of each further fan-out (the bridge between two known ends).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, inf, prod

import numpy as np

from release.contract.models import FloatArray, IntArray
from release.cubes.models.trees.hierarchy import Hierarchy, combine
from release.cubes.models.trees.orders import Fanouts, even_tree
from release.cubes.models.trees.ranges import range_variance

MOST_LEVELS = 6
MOST_RHO_LEVELS = 12
MOST_AT_THE_TOP = 64
MOST_GROUPS = 24
MOST_FLAT = 4_096
SAMPLED_ENDS = 61
MOST_WEIGHED = 256
"""Leaves beyond which a tree is laid out by their number alone."""

THREE_LEVELS = 3

_TOP_SHARES = tuple(Fraction(twentieths, 20) for twentieths in range(4, 19))


@dataclass(frozen=True, slots=True)
class Layout:
    """A tree over leaves, and how a loss divides over its levels.

    Attributes:
        tree: Which sums are measured.
        shares: Of each level, from the top; their sum is 1.
    """

    tree: Hierarchy
    shares: tuple[Fraction, ...]


@lru_cache(maxsize=256)
def line_fanouts(leaves: int, power: int = 2) -> tuple[int, ...]:
    """Return the fan-outs, from the top, that serve running sums over a line best.

    For each height the best by a formula; among those the best by exact variances.

    >>> line_fanouts(12)
    (12,)
    """
    rivals: list[tuple[int, ...]] = [(leaves,)] if leaves <= MOST_FLAT else []
    if leaves > 1:
        most = MOST_LEVELS if power > 1 else MOST_RHO_LEVELS
        rivals += [_of_height(leaves, height) for height in range(2, most + 1)]
    return min(rivals, key=lambda fanouts: _line_variance(leaves, fanouts, power))


def _of_height(leaves: int, height: int) -> tuple[int, ...]:
    tops = range(2, min(leaves, MOST_AT_THE_TOP) + 1)
    found = [(top, *_below(leaves / top, height - 1)) for top in tops]
    return min(found, key=_line_cost)


def _below(leaves: float, levels: int) -> tuple[int, ...]:
    fanout = max(2, ceil(leaves ** (1 / levels) - 1e-9))
    return _spread_out(ceil(leaves - 1e-9), fanout, levels)


def _line_cost(fanouts: tuple[int, ...]) -> float:
    """Return about the mean variance of running sums: half a top, bridges below.

    It compares fan-outs of one height, whose levels have like variances.
    """
    return fanouts[0] / 2 + sum(fanouts[1:]) / 6


def _line_variance(leaves: int, fanouts: tuple[int, ...], power: int) -> float:
    """Return the mean variance of some running sums over levels of equal shares."""
    tree = even_tree(leaves, fanouts)
    zeros = [np.zeros(width) for width in tree.widths]
    combined = combine(tree, zeros, [len(fanouts) ** power] * len(fanouts))
    ends = np.linspace(1, leaves, min(leaves, SAMPLED_ENDS)).astype(int).tolist()
    return sum(range_variance(tree, combined, 0, end, []) for end in ends)


def _spread_out(leaves: int, fanout: int, levels: int) -> tuple[int, ...]:
    """Return fan-outs whose product covers the leaves, each as small as it may be."""
    found: list[int] = []
    for level in range(levels - 1, 0, -1):
        covered = prod(found)
        found.append(max(2, ceil((leaves / covered) ** (1 / (level + 1)) - 1e-9)))
    found.append(max(2, -(-leaves // prod(found))))
    return tuple(found) if max(found) <= fanout + 1 else (fanout,) * levels


def box_fanouts(shape: tuple[int, ...], power: int = 2) -> Fanouts:
    """Return fan-outs for boxes in a plane: the height of least expected variance.

    >>> box_fanouts((128, 128))
    ((12, 12), (11, 11))
    """
    best: Fanouts = (shape,)
    least = prod(shape) / 4
    for height in range(2, MOST_LEVELS):
        axes = [_spread_out(n, ceil(n ** (1 / height)), height) for n in shape]
        fanouts = tuple(zip(*axes, strict=True))
        cost = height**power * _box_cost(fanouts)
        if cost < least:
            best, least = fanouts, cost
    return best


def _box_cost(fanouts: Fanouts) -> float:
    """Return about how many nodes a box needs: its area on top, then its edges."""
    cost = prod(fanouts[0]) / 4
    for level in range(1, len(fanouts)):
        nodes = [prod(cuts[axis] for cuts in fanouts[: level + 1]) for axis in (0, 1)]
        cost += sum(nodes[axis] * fanouts[level][1 - axis] / 4 for axis in (0, 1))
    return cost


def flat_layout(leaves: int) -> Layout:
    """Return each leaf by itself."""
    return Layout(Hierarchy((), leaves), (Fraction(1),))


def weighted_layout(weights: FloatArray) -> Layout:
    """Return a tree over buckets that serves running sums over their cells best.

    Args:
        weights: Cells in each bucket, in order.

    Up to 256 buckets, all ways to gather them into runs are compared by dynamic
    programming, together with shares of the loss for the runs; beyond, the
    fan-outs follow from their number.
    """
    if len(weights) > MOST_WEIGHED:
        return _blocked_layout(weights)
    shares = weights / weights.sum()
    least = float((shares * (np.arange(len(shares)) + 1 / 3)).sum())
    best = flat_layout(len(shares))
    runs = _Runs.of(shares)
    for top in _TOP_SHARES:
        cost, starts = _gather(runs, float(top), float(1 - top))
        if cost < least:
            least = cost
            tree = Hierarchy((starts,), len(shares))
            best = Layout(tree, (top, 1 - top))
    return best


def _blocked_layout(weights: FloatArray) -> Layout:
    """Return three levels: runs of blocks, blocks of equally many leaves, leaves."""
    fanouts = _of_height(len(weights), THREE_LEVELS)
    blocks = np.arange(0, len(weights), fanouts[-1])
    if len(blocks) > MOST_WEIGHED:
        fanouts = line_fanouts(len(weights))
        tree = even_tree(len(weights), fanouts)
        return Layout(tree, (Fraction(1, len(fanouts)),) * len(fanouts))
    shares = np.add.reduceat(weights, blocks) / weights.sum()
    best = Layout(Hierarchy((blocks,), len(weights)), (Fraction(1, 2),) * 2)
    runs = _Runs.of(shares)
    least = inf
    for top in _TOP_SHARES:
        lower = (1 - top) / 2
        cost, starts = _gather(runs, float(top), float(lower))
        cost += fanouts[-1] / 6 / float(lower) ** 2
        if cost < least:
            least = cost
            tree = Hierarchy((starts, blocks), len(weights))
            best = Layout(tree, (top, lower, lower))
    return best


@dataclass(frozen=True, slots=True)
class _Runs:
    """Costs of all runs of leaves: row a, column b stands for leaves a..b-1.

    Attributes:
        bridges: What running sums that end inside pay for the leaves: at place p of
            m, p (1 - p / m) of them.
        ends: What they pay for the run's own sum: its share (p / m)^2.
        weights: Of the cells before each leaf.
    """

    bridges: FloatArray
    ends: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, weights: FloatArray) -> "_Runs":
        leaves = len(weights)
        bridges = np.full((leaves + 1, leaves + 1), inf)
        ends = np.full((leaves + 1, leaves + 1), inf)
        for first in range(leaves):
            place = np.arange(leaves - first) + 0.5
            linear = np.cumsum(weights[first:] * place)
            squares = np.cumsum(weights[first:] * place * place)
            length = np.arange(1, leaves - first + 1)
            bridges[first, first + 1 :] = linear - squares / length
            ends[first, first + 1 :] = squares / length**2
        return cls(bridges, ends, np.concatenate([[0.0], np.cumsum(weights)]))


def _gather(runs: _Runs, top_share: float, low_share: float) -> tuple[float, IntArray]:
    """Return the least cost of two levels, and the first leaf of each run."""
    leaves, top = len(runs.weights) - 1, 1 / top_share**2
    inner = runs.bridges / low_share**2 + runs.ends * top
    ahead = top * (runs.weights[None, :] - runs.weights[:, None])
    cost = np.full(leaves + 1, inf)
    cost[0] = 0.0
    cuts: list[IntArray] = []
    best, found = inf, 0
    for count in range(min(leaves, MOST_GROUPS)):
        through = cost[:, None] + inner + count * ahead
        cuts.append(through.argmin(axis=0))
        cost = through.min(axis=0)
        if cost[leaves] < best:
            best, found = float(cost[leaves]), count + 1
    return best, _trace(cuts[:found], leaves)


def _trace(cuts: list[IntArray], leaves: int) -> IntArray:
    starts: list[int] = []
    last = leaves
    for cut in reversed(cuts):
        last = int(cut[last])
        starts.insert(0, last)
    return np.array(starts, dtype=np.int64)
