"""Trees of sums over ordered cells: least squares, and exact variances of answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray

_LEAST_VARIANCE: Final = 1e-9
"""Taken for none at all, where epsilon is huge: weights stay defined."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Sums over nested blocks; there is no root.

    Attributes:
        starts: For each level but the lowest, from the top, each node's first child
            on the level below; ascending, the first is 0.
        leaves: How many nodes the lowest level has.
    """

    starts: tuple[IntArray, ...]
    leaves: int

    @property
    def widths(self) -> tuple[int, ...]:
        """How many nodes each level has, from the top."""
        return (*map(len, self.starts), self.leaves)

    def parents(self, level: int) -> IntArray:
        """Return the node on this level above each node of the next."""
        counts = np.diff(self.starts[level], append=self.widths[level + 1])
        return np.repeat(np.arange(len(counts)), counts)


@dataclass(frozen=True, slots=True)
class Combined:
    """What is known of each node from itself and below it: estimate and variance."""

    estimates: tuple[FloatArray, ...]
    variances: tuple[FloatArray, ...]


def combine(
    tree: Hierarchy, values: Sequence[FloatArray], variances: Sequence[float]
) -> Combined:
    """Return the best estimate of each node from what lies at and below it.

    Args:
        tree: Which sums were measured.
        values: Unbiased measurements, from the top level, independent of each other.
        variances: Of each level's measurements.

    Source: docs/proofs/hb.md.
    """
    variances = [max(variance, _LEAST_VARIANCE) for variance in variances]
    estimates = [np.asarray(values[-1], dtype=np.float64)]
    spreads = [np.full(tree.leaves, variances[-1])]
    for level in range(len(tree.starts) - 1, -1, -1):
        below = np.add.reduceat(estimates[0], tree.starts[level])
        spread = np.add.reduceat(spreads[0], tree.starts[level])
        weight = spread / (spread + variances[level])
        estimates.insert(0, below + weight * (values[level] - below))
        spreads.insert(0, weight * variances[level])
    return Combined(tuple(estimates), tuple(spreads))


def least_squares(tree: Hierarchy, combined: Combined) -> FloatArray:
    """Return the generalised least-squares estimate of every leaf."""
    fitted = combined.estimates[0]
    for level, starts in enumerate(tree.starts):
        below, spread = combined.estimates[level + 1], combined.variances[level + 1]
        missing = fitted - np.add.reduceat(below, starts)
        rate = missing / np.add.reduceat(spread, starts)
        fitted = below + spread * rate[tree.parents(level)]
    return fitted


def answer_variances(
    tree: Hierarchy, combined: Combined, weights: "Weights"
) -> FloatArray:
    """Return the exact variance of weighted sums of least-squares leaves.

    Below a node, the fitted leaves are those that the node's own fitted value gives,
    plus a residual that is independent of everything outside; hence one pass upward
    suffices, with a slope and a residual variance a node. One question needs time in
    proportion to the leaves that it weighs, whatever their number of groups.

    Source: docs/proofs/hb.md.
    """
    residual = np.zeros(weights.groups)
    nodes, groups, slopes = weights.leaves, weights.owners, weights.slopes
    for level in range(len(tree.starts) - 1, -1, -1):
        spread = combined.variances[level + 1][nodes]
        parents = tree.parents(level)[nodes]
        keys, own = _pairs(parents, groups, weights.groups)
        first = np.bincount(own, slopes * spread, minlength=len(keys))
        second = np.bincount(own, slopes * slopes * spread, minlength=len(keys))
        nodes, groups = keys // weights.groups, keys % weights.groups
        total = np.add.reduceat(combined.variances[level + 1], tree.starts[level])
        slopes = first / total[nodes]
        left = np.maximum(second - first * slopes, 0.0)
        residual += np.bincount(groups, left, minlength=weights.groups)
    top = slopes * slopes * combined.variances[0][nodes]
    return np.asarray(residual + np.bincount(groups, top, minlength=weights.groups))


@dataclass(frozen=True, slots=True)
class Weights:
    """Sparse weights of questions: one entry a leaf and group that meet.

    Attributes:
        leaves: Numbers of leaves.
        owners: The group of each entry.
        slopes: Its weight.
        groups: How many groups there are.
    """

    leaves: IntArray
    owners: IntArray
    slopes: FloatArray
    groups: int


def _pairs(nodes: IntArray, owners: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs as one number each, and each entry's place there."""
    keys = nodes * groups + owners
    if groups == 1 and len(keys):  # ascending already: no sort
        first = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
        counts = np.diff(first, append=len(keys))
        return keys[first], np.repeat(np.arange(len(first)), counts)
    found, own = np.unique(keys, return_inverse=True)
    return found, own
