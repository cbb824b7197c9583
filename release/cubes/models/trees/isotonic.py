"""Monotone fits of running counts: post-processing that costs nothing."""

from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray

MOST_PASSES: Final = 64


def isotonic(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the non-decreasing sequence nearest to ``values`` in weighted squares.

    Pools whole falling runs at a time, which any order of pooling allows; what few
    blocks are left after many passes are pooled one by one.

    >>> isotonic(np.array([1.0, 3.0, 2.0]), np.ones(3)).tolist()
    [1.0, 2.5, 2.5]
    """
    means, masses = values.astype(np.float64), weights.astype(np.float64)
    counts = np.ones(len(values), dtype=np.int64)
    for _ in range(MOST_PASSES):
        rises = means[1:] > means[:-1]
        if rises.all():
            break
        starts = np.concatenate([[0], np.flatnonzero(rises) + 1])
        sums = np.add.reduceat(means * masses, starts)
        masses = np.add.reduceat(masses, starts)
        counts = np.add.reduceat(counts, starts)
        means = sums / masses
    else:
        means, counts = _pooled(means, masses, counts)
    return np.repeat(means, counts)


def _pooled(
    means: FloatArray, masses: FloatArray, counts: IntArray
) -> tuple[FloatArray, IntArray]:
    """Pool adjacent violators from left to right."""
    kept: list[tuple[float, float, int]] = []
    for block in zip(means.tolist(), masses.tolist(), counts.tolist(), strict=True):
        mean, mass, count = block
        while kept and kept[-1][0] >= mean:
            before, other, more = kept.pop()
            mean = (mean * mass + before * other) / (mass + other)
            mass, count = mass + other, count + more
        kept.append((mean, mass, count))
    left = np.array([block[0] for block in kept])
    return left, np.array([block[2] for block in kept], dtype=np.int64)


def monotone_counts(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """Return non-negative counts whose running sums are the nearest monotone ones.

    Args:
        counts: Unbiased estimates in order; may be negative.
        weights: How much each running sum matters, positive.
    """
    running = np.maximum(isotonic(np.cumsum(counts), weights), 0.0)
    return np.diff(running, prepend=0.0)
