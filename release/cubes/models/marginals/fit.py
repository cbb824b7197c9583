"""From noisy one-way and two-way tables to one consistent distribution on a tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mechanisms.scales.noises import LAPLACE, Noise
from release.contract.intervals import noise_variance
from release.contract.models import FloatArray, IntArray

ROUNDS: Final = 60
"""Rounds of iterative proportional fitting; each edge converges in a few."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What was measured after the tree, round by round.

    Attributes:
        pairs: In the order in which they were chosen; none is in the tree.
        tables: One table of bins a pair, flat in C order, as drawn.
        scale: Of those draws; 0.0 where there are none.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    tables: tuple[IntArray, ...] = ()
    scale: float = 0.0


@dataclass(frozen=True, slots=True)
class Marginals:
    """Draws of all one-way tables and of those two-way tables that a tree has.

    Attributes:
        one_way: One table a dimension, as drawn.
        one_scale: Of those draws.
        bins: For each dimension, the bin of each of its values, from 0.
        pairs: The tree's edges; the first dimension of each is nearer to dimension 0.
        two_way: One table of bins an edge, flat in C order, as drawn.
        two_scale: Of those draws; 0.0 where there are none.
        rounds: What was measured after the tree.
        noise: The kind of all draws.
    """

    one_way: tuple[IntArray, ...]
    one_scale: float
    bins: tuple[IntArray, ...]
    pairs: tuple[tuple[int, int], ...]
    two_way: tuple[IntArray, ...]
    two_scale: float
    rounds: Rounds = Rounds()
    noise: Noise = LAPLACE

    def measured(self) -> list[tuple[tuple[int, int], IntArray, float]]:
        """Return each pair with its table and the scale of its draws."""
        tree = zip(self.pairs, self.two_way, strict=True)
        later = zip(self.rounds.pairs, self.rounds.tables, strict=True)
        return [
            *((pair, table, self.two_scale) for pair, table in tree),
            *((pair, table, self.rounds.scale) for pair, table in later),
        ]


@dataclass(frozen=True, slots=True)
class TreeFit:
    """A distribution over the cells: a tree over bins, values independent inside them.

    Attributes:
        total: Estimated count of the whole cube.
        shares: For each dimension, each value's share of the whole.
        root: Share of each bin of dimension 0.
        conditionals: For each edge, (bins of the first, bins of the second), the share
            of each bin of the second where the first has a certain bin.
    """

    total: float
    shares: tuple[FloatArray, ...]
    root: FloatArray
    conditionals: tuple[FloatArray, ...]


def total_of(one_way: Sequence[IntArray]) -> float:
    """Return the mean of the tables' sums, each weighed by 1 / its public size."""
    weights = np.array([1 / len(table) for table in one_way])
    sums = np.array([float(table.sum()) for table in one_way])
    return float(weights @ sums / weights.sum())


def shares_of(table: IntArray, total: float) -> FloatArray:
    """Return the nearest table that is nowhere negative, as shares of its sum."""
    positive = onto_simplex(table.astype(np.float64), max(total, 1.0))
    return np.asarray(positive / positive.sum(), dtype=np.float64)


def onto_simplex(values: FloatArray, total: float) -> FloatArray:
    """Return the nearest point (least squares) that is >= 0 and sums to a total."""
    falling = np.sort(values)[::-1]
    over = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling > over)[-1])
    return np.asarray(np.maximum(values - over[last], 0.0), dtype=np.float64)


def binned(shares: FloatArray, bins: IntArray) -> FloatArray:
    """Return the share of each bin."""
    return np.asarray(np.bincount(bins, shares), dtype=np.float64)


def fit_tree(drawn: Marginals) -> TreeFit:
    """Return the distribution that agrees with all draws as far as noise allows."""
    total = total_of(drawn.one_way)
    shares = tuple(shares_of(table, total) for table in drawn.one_way)
    sides = [
        binned(of_values, bins)
        for of_values, bins in zip(shares, drawn.bins, strict=True)
    ]
    variance = noise_variance(drawn.two_scale, drawn.noise) if drawn.pairs else 0.0
    conditionals = []
    for (one, other), table in zip(drawn.pairs, drawn.two_way, strict=True):
        joint = _joint(table, total, (sides[one], sides[other]), variance)
        mass = joint.sum(axis=1, keepdims=True)
        even = np.broadcast_to(sides[other], joint.shape)
        conditionals.append(np.where(mass > 0, joint / np.maximum(mass, 1e-300), even))
    return TreeFit(total, shares, sides[0], tuple(conditionals))


def _joint(
    table: IntArray,
    total: float,
    sides: tuple[FloatArray, FloatArray],
    variance: float,
) -> FloatArray:
    """Return shares of a pair's cells, with the one-way shares as their sums."""
    apart = np.outer(*sides).ravel()
    joint = pulled_to(apart, table, total, variance).reshape(len(sides[0]), -1)
    for _ in range(ROUNDS):
        joint = joint * _ratio(sides[0], joint.sum(axis=1))[:, None]
        joint = joint * _ratio(sides[1], joint.sum(axis=0))[None, :]
    return joint


def pulled_to(
    forecast: FloatArray, table: IntArray, total: float, variance: float
) -> FloatArray:
    """Return a table's shares, pulled to a forecast as far as they are within noise.

    Args:
        forecast: Shares.
        table: As drawn.
        total: Of the table.
        variance: Of the noise of each entry.
    """
    whole = max(total, 1.0)
    apart = forecast * whole
    beyond = table - apart
    observed = max(float(np.square(beyond).mean()), 1e-12)
    kept = max(0.0, 1.0 - variance / observed)
    joint = onto_simplex(apart + kept * beyond, whole) / whole
    return np.maximum(joint, 1e-6 * forecast)


def _ratio(wanted: FloatArray, got: FloatArray) -> FloatArray:
    return np.where(got > 0, wanted / np.maximum(got, 1e-300), 0.0)
