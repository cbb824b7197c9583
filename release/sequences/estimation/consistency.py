"""Counts of a noisy tree made to agree: none negative, children sum to their parent."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from release.contract.models import FloatArray, IntArray

_LEAST: Final = 1e-9
"""Taken for no variance at all, or no count: weights stay defined."""

_ROUNDS: Final = 4
"""Of moving children by their variances, before what is left is scaled away."""


@dataclass(frozen=True, slots=True)
class NoisyLevel:
    """The kept nodes of one depth.

    Attributes:
        parents: For each, the place of its parent on the level above; ascending.
        values: Noisy counts.
        variances: Of their noise.
        full: For each, whether all its children were kept: then they sum to it, else
            they may sum to less.
    """

    parents: IntArray
    values: FloatArray
    variances: FloatArray
    full: NDArray[np.bool_]


def upward(levels: list[NoisyLevel]) -> list[NoisyLevel]:
    """Return levels of which each node is joined with what its children say.

    Where children contradict a node (they hold more; or another sum, where all of them
    are known) it becomes the mean of both by inverse variance: so counts stop growing
    along a path, and least squares is had where the tree is full.

    Source: docs/proofs/prefix_tree.md.
    """
    joined = list(levels)
    for depth in range(len(levels) - 1, 0, -1):
        joined[depth - 1] = _joined(joined[depth - 1], joined[depth])
    return joined


def _joined(level: NoisyLevel, below: NoisyLevel) -> NoisyLevel:
    size = len(level.values)
    sums = np.bincount(below.parents, below.values, size)
    spread = np.bincount(below.parents, below.variances, size)
    children = np.bincount(below.parents, minlength=size)
    meets = (children > 0) & (level.full | (sums > level.values))
    weight = np.where(
        meets, level.variances / np.maximum(spread + level.variances, _LEAST), 0.0
    )
    values = level.values + weight * (sums - level.values)
    variances = np.where(meets, weight * spread, level.variances)
    return NoisyLevel(level.parents, values, variances, level.full)


def share_out(
    estimates: FloatArray, variances: FloatArray, totals: FloatArray
) -> FloatArray:
    """Return estimates that are not negative and sum to each row's total.

    Args:
        estimates: (rows, children), not negative.
        variances: Of the estimates: who is less sure moves more.
        totals: One a row, not negative.
    """
    counts = estimates
    for _ in range(_ROUNDS):
        missing = totals - counts.sum(axis=1)
        moves = (counts > 0) | (missing > 0)[:, None]
        weights = np.where(moves, variances + _LEAST, 0.0)
        rate = missing / np.maximum(weights.sum(axis=1), _LEAST**2)
        counts = np.maximum(counts + weights * rate[:, None], 0)
    sums = counts.sum(axis=1)
    even = np.full(counts.shape, 1 / counts.shape[1])
    some = (sums > _LEAST)[:, None]
    shares = np.where(some, counts / np.maximum(sums, _LEAST)[:, None], even)
    return np.asarray(shares * totals[:, None])
