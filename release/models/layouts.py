"""Which tree to measure: fixed rules of public facts, or of what is published already.

Costs are mean variances of running sums (or boxes) in units of the variance that a
single level would have at the whole loss; a level at a share s of it has 1/s^2. A
running sum needs half of the top level's nodes on average, and, through least squares,
a sixth of each further fan-out (the bridge between two known ends).
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, inf, prod

import numpy as np

from release.models.contract import FloatArray, IntArray
from release.models.hierarchy import Hierarchy
from release.models.orders import Fanouts, even_tree

MOST_LEVELS = 6
MOST_AT_THE_TOP = 64
MOST_GROUPS = 24
MOST_WEIGHED = 256
"""Leaves beyond which a tree is laid out by their number alone."""

_TOP_SHARES = tuple(Fraction(tenths, 10) for tenths in range(3, 10))


@dataclass(frozen=True, slots=True)
class Layout:
    """A tree over leaves, and how a loss divides over its levels.

    Attributes:
        tree: Which sums are measured.
        shares: Of each level, from the top; their sum is 1.
    """

    tree: Hierarchy
    shares: tuple[Fraction, ...]


def line_fanouts(leaves: int) -> tuple[int, ...]:
    """Return the fan-outs, from the top, that serve running sums over a line best.

    >>> line_fanouts(4096)
    (8, 22, 24)
    """
    best: tuple[int, ...] = (leaves,)
    least = leaves / 2
    for top in range(2, min(leaves, MOST_AT_THE_TOP) + 1):
        rest = leaves / top
        for below in range(1, MOST_LEVELS):
            fanout = max(2, ceil(rest ** (1 / below) - 1e-9))
            lower = _spread_out(ceil(rest - 1e-9), fanout, below)
            cost = (below + 1) ** 2 * (top / 2 + sum(lower) / 6)
            if cost < least:
                best, least = (top, *lower), cost
    return best


def _spread_out(leaves: int, fanout: int, levels: int) -> tuple[int, ...]:
    """Return fan-outs whose product covers the leaves, each as small as it may be."""
    found: list[int] = []
    for level in range(levels - 1, 0, -1):
        covered = prod(found)
        found.append(max(2, ceil((leaves / covered) ** (1 / (level + 1)) - 1e-9)))
    found.append(max(2, -(-leaves // prod(found))))
    return tuple(found) if max(found) <= fanout + 1 else (fanout,) * levels


def box_fanouts(shape: tuple[int, ...]) -> Fanouts:
    """Return fan-outs for boxes in a plane: the height of least foretold variance.

    >>> box_fanouts((128, 128))
    ((12, 12), (11, 11))
    """
    best: Fanouts = (shape,)
    least = prod(shape) / 4
    for height in range(2, MOST_LEVELS):
        axes = [_spread_out(n, ceil(n ** (1 / height)), height) for n in shape]
        fanouts = tuple(zip(*axes, strict=True))
        cost = height**2 * _box_cost(fanouts)
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


def weighted_layout(weights: FloatArray) -> Layout:
    """Return a tree over buckets that serves running sums over their cells best.

    Args:
        weights: Cells in each bucket, in order.

    Up to 256 buckets, all ways to gather them into runs are compared by dynamic
    programming, together with shares of the loss for the runs; beyond, the
    fan-outs follow from their number.
    """
    if len(weights) > MOST_WEIGHED:
        fanouts = line_fanouts(len(weights))
        tree = even_tree(len(weights), fanouts)
        return Layout(tree, (Fraction(1, len(fanouts)),) * len(fanouts))
    shares = weights / weights.sum()
    least = float((shares * (np.arange(len(shares)) + 1 / 3)).sum())
    best = Layout(Hierarchy((), len(shares)), (Fraction(1),))
    for top in _TOP_SHARES:
        cost, starts = _gather(shares, float(top))
        if cost < least:
            least = cost
            tree = Hierarchy((starts,), len(shares))
            best = Layout(tree, (top, 1 - top))
    return best


def _gather(weights: FloatArray, top_share: float) -> tuple[float, IntArray]:
    """Return the least cost of two levels, and the first leaf of each run."""
    leaves, top = len(weights), 1 / top_share**2
    inner = _run_costs(weights, top, 1 / (1 - top_share) ** 2)
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    cost = np.full(leaves + 1, inf)
    cost[0] = 0.0
    cuts: list[IntArray] = []
    best, runs = inf, 0
    for count in range(min(leaves, MOST_GROUPS)):
        ahead = top * count * (sums[None, :] - sums[:, None])
        through = cost[:, None] + inner + ahead
        cuts.append(through.argmin(axis=0))
        cost = through.min(axis=0)
        if cost[leaves] < best:
            best, runs = float(cost[leaves]), count + 1
    return best, _trace(cuts[:runs], leaves)


def _run_costs(weights: FloatArray, top: float, low: float) -> FloatArray:
    """Return what running sums that end inside a run cost there, for every run.

    Row a, column b stands for leaves a..b-1. At place p of m, a bridge costs
    p (1 - p / m) leaves, and the run's own measured sum its share (p / m)^2.
    """
    leaves = len(weights)
    costs = np.full((leaves + 1, leaves + 1), inf)
    for first, last in product(range(leaves), [leaves]):
        place = np.arange(last - first) + 0.5
        linear = np.cumsum(weights[first:] * place)
        squares = np.cumsum(weights[first:] * place * place)
        length = np.arange(1, last - first + 1)
        bridge = low * (linear - squares / length)
        costs[first, first + 1 :] = bridge + top * squares / length**2
    return costs


def _trace(cuts: list[IntArray], leaves: int) -> IntArray:
    starts: list[int] = []
    last = leaves
    for cut in reversed(cuts):
        last = int(cut[last])
        starts.insert(0, last)
    return np.array(starts, dtype=np.int64)
