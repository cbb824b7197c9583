"""Tails of discrete Gaussian noise: half-widths and probabilities, never too small."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_CACHED_WIDTHS = 4_096
_CACHED_TAILS = 64
_SPARE: Final = 1e-11
"""Relatively more than float64 may be wrong by in a probability."""

_SUMMED: Final = 500.0
"""Sigma up to which probabilities are summed; beyond, an integral bounds them."""

_REACH: Final = 40.0
"""Standard deviations beyond which float64 holds no probability."""


@lru_cache(_CACHED_WIDTHS)
def gaussian_half_width(scale: float, confidence: Fraction) -> int:
    r"""Return the least w with P(\|noise\| <= w) at least a confidence.

    Args:
        scale: Sigma of discrete Gaussian noise, in grid steps, positive.
        confidence: Strictly between 0 and 1.

    Where two neighbours tie within 1e-11 of the probability of a miss, the wider one.

    Raises:
        ValueError: ``confidence`` is not strictly between 0 and 1.

    Source: docs/proofs/discrete_gaussian.md.

    >>> gaussian_half_width(10.0, Fraction(95, 100))
    20
    """
    if not 0 < confidence < 1:
        message = f"a confidence lies strictly between 0 and 1, not {confidence}"
        raise ValueError(message)
    miss = float(1 - confidence)
    low, high = -1, max(1, math.ceil(_REACH * scale))
    while high - low > 1:
        middle = (low + high) // 2
        if gaussian_beyond(scale, middle) <= miss:
            high = middle
        else:
            low = middle
    return high


def gaussian_beyond(scale: float, width: int) -> float:
    r"""Return at least P(\|noise\| > width), and hardly more.

    Args:
        scale: Sigma, in grid steps, positive.
        width: In grid steps, at least -1.

    >>> 0.040 < gaussian_beyond(10.0, 20) < 0.041
    True
    """
    if scale > _SUMMED:  # cells of one step are convex or concave: see the proof
        distance = (width + 0.5) / (math.sqrt(2) * scale)
        return min(1.0, math.erfc(distance) * (1 + _SPARE))
    tails = _tails(scale)
    outside = tails[width + 1] if width + 1 < len(tails) else tails[-1]
    return min(1.0, float(outside) * (1 + _SPARE))


@lru_cache(_CACHED_TAILS)
def _tails(scale: float) -> FloatArray:
    r"""Return P(\|noise\| >= k) for k from 0 on, summed from the end."""
    steps = np.arange(math.ceil(_REACH * scale) + 2, dtype=np.float64)
    weights = np.exp(-0.5 * (steps / scale) ** 2)
    sums = 2 * np.cumsum(weights[::-1])[::-1]
    whole = sums[0] - weights[0]
    tails: FloatArray = sums / whole
    tails[0] = 1.0
    return tails
