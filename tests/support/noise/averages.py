"""How often noise moves an average too far: summed exactly, one count after another."""

import math
from functools import cache

import numpy as np


@cache
def laplace_above(scale):
    """Return P(draw >= x) for any whole x."""
    a = math.exp(-1 / scale)

    def above(x):
        x = np.asarray(x, dtype=float)
        far = np.exp(-np.abs(np.where(x > 0, x, 1 - x)) / scale) / (1 + a)
        return np.where(x > 0, far, 1 - far)

    return above


@cache
def gaussian_above(scale):
    """Return P(draw >= x) for any whole x, from its weights within 12 sigma."""
    reach = math.ceil(12 * scale) + 2
    places = np.arange(-reach, reach + 1)
    weights = np.exp(-(places**2) / (2 * scale**2))
    above_each = np.append(np.cumsum(weights[::-1])[::-1], 0) / weights.sum()

    def above(x):
        place = np.clip(np.asarray(x, dtype=float) + reach, 0, len(places))
        return above_each[place.astype(int)]

    return above


def miss_of_average(sums, counts, *, reach, total, rows, within, bounds):
    """Return how often a noisy average misses the exact one by more than ``within``.

    Args:
        sums: P(noise of the sum >= x).
        counts: P(noise of the count >= x).
        reach: Of the count's noise: further draws are misses.
        total: Exact sum, in steps.
        rows: Exact count.
        within: In steps.
        bounds: Of an average, in steps: what is shown is clamped to them.
    """
    exact, (lower, upper) = total / rows, bounds
    off = np.arange(max(1 - rows, -reach), reach + 1)
    shown = rows + off
    least = np.ceil((exact - within) * shown - total - 1e-9)
    most = np.floor((exact + within) * shown - total + 1e-9)
    low = 1.0 if exact - within <= lower else sums(least)
    high = 0.0 if exact + within >= upper else sums(most + 1)
    kept = (counts(off) - counts(off + 1)) * np.maximum(low - high, 0.0)
    return 1 - float(kept.sum())
