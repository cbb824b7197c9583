"""Monotone fits of running counts: post-processing that costs nothing."""

import numpy as np

from release.models.contract import FloatArray


def isotonic(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the non-decreasing sequence nearest to ``values`` in weighted squares.

    Pools adjacent violators; time in proportion to the length.

    >>> isotonic(np.array([1.0, 3.0, 2.0]), np.ones(3)).tolist()
    [1.0, 2.5, 2.5]
    """
    means: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, mass, count = value, weight, 1
        while means and means[-1] >= mean:
            other = masses.pop()
            mean = (mean * mass + means.pop() * other) / (mass + other)
            mass += other
            count += counts.pop()
        means.append(mean)
        masses.append(mass)
        counts.append(count)
    return np.repeat(np.array(means), counts)


def monotone_counts(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """Return non-negative counts whose running sums are the nearest monotone ones.

    Args:
        counts: Unbiased estimates in order; may be negative.
        weights: How much each running sum matters, positive.
    """
    running = np.maximum(isotonic(np.cumsum(counts), weights), 0.0)
    return np.diff(running, prepend=0.0)
