"""Variances and 95 % half-widths of sums of discrete Laplace noise."""

import math
from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.scales.half_widths import half_width
from release.contract.models import FloatArray, IntArray

CONFIDENCE: Final = Fraction(95, 100)

NORMAL_QUANTILE: Final = 1.9599639845400545
"""The least z with P(|N(0, 1)| <= z) >= 0.95."""

TAIL_SURPLUS: Final = 0.21
"""Excess of the 95 % quantile of a sum of n equal draws over the normal one, in
standard deviations, times n; docs/proofs/half_widths_of_sums.md."""

WEIGHTED_QUANTILE: Final = 2.12
"""In standard deviations, for any weighted sum of discrete Laplace draws: a single
draw has ln(20) / sqrt(2) = 2.1184, the most; docs/proofs/half_widths_of_sums.md."""


def joint_quantile(ends: int) -> float:
    """Return how many standard deviations keep several ends at once, 95 times in 100.

    A draw passes ln(1/p) / sqrt(2) of them with probability p; each of ``ends`` may
    take a share of the twentieth (Bonferroni), whatever they share.
    """
    return max(WEIGHTED_QUANTILE, math.log(20 * max(1, ends)) / math.sqrt(2))


def noise_variance(scale: float) -> float:
    """Return the variance of discrete Laplace noise, in squared grid steps.

    >>> round(noise_variance(10.0), 3)
    199.833
    """
    return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > 1e-2 else 0.0  # noqa: PLR2004 - below it, exp(-100)


def sum_half_widths(draws: IntArray, scale: float) -> FloatArray:
    """Return 95 % half-widths of sums of independent draws of one scale.

    Args:
        draws: How many draws each sum has; 0 has no error.
        scale: Of each draw, in grid steps.

    Returns:
        Whole numbers of grid steps, never too small: exact for one draw, for more the
        normal quantile with a surplus that covers the heavier tails.
    """
    some = np.maximum(draws, 1)
    quantile = NORMAL_QUANTILE + TAIL_SURPLUS / some
    widths = np.ceil(quantile * np.sqrt(some * noise_variance(scale)))
    widths[draws == 1] = half_width(scale, CONFIDENCE)
    widths[draws == 0] = 0
    return np.asarray(widths, dtype=np.float64)
