"""Variances and 95 % half-widths of sums of discrete Laplace noise."""

import math
from fractions import Fraction
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray

CONFIDENCE: Final = Fraction(95, 100)
_MISSES: Final = 0.05

NORMAL_QUANTILE: Final = 1.9599639845400545
"""The least z with P(|N(0, 1)| <= z) >= 0.95."""

TAIL_SURPLUS: Final = 0.22
"""Excess of the 95 % quantile of a sum of n equal draws over the normal one, in
standard deviations, times n; docs/proofs/half_widths_of_sums.md."""

WEIGHTED_QUANTILE: Final = 2.12
"""In standard deviations, for any weighted sum of discrete Laplace draws: a single
draw has ln(20) / sqrt(2) = 2.1184, the most; docs/proofs/half_widths_of_sums.md."""

STEP: Final = 0.55
"""Of the greatest weight, allowed for beside standard deviations: noise moves by whole
steps, and where it is mostly 0 its deviation says little of one step."""


def noise_variance(scale: float) -> float:
    """Return the variance of discrete Laplace noise, in squared grid steps.

    >>> round(noise_variance(10.0), 3)
    199.833
    """
    return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > 1e-2 else 0.0  # noqa: PLR2004 - below it, exp(-100)


def draw_half_width(scale: float) -> float:
    """Return a real x so that one draw passes it 5 times in 100 at most.

    The last whole step within x is the exact half-width. Times what another confidence
    takes, x holds at that one too; the whole step, often 0, does not.
    """
    a = math.exp(-1 / scale)
    return scale * math.log(2 / ((1 + a) * _MISSES))


def sum_half_widths(draws: IntArray, scale: float) -> FloatArray:
    """Return 95 % half-widths of sums of independent draws of one scale.

    Args:
        draws: How many draws each sum has; 0 has no error.
        scale: Of each draw, in grid steps.

    Returns:
        Real numbers, more than 0 wherever there is noise: the errors are whole, so an
        interval ends at the last whole step within.
    """
    some = np.maximum(draws, 1)
    quantile = NORMAL_QUANTILE + TAIL_SURPLUS / some
    widths = quantile * np.sqrt(some * noise_variance(scale)) + STEP
    widths[draws == 1] = draw_half_width(scale)
    widths[draws == 0] = 0
    return np.asarray(widths, dtype=np.float64)


def weighted_half_widths(
    variances: FloatArray,
    loads: FloatArray | float,
    quantile: FloatArray | float = WEIGHTED_QUANTILE,
) -> FloatArray:
    """Return 95 % half-widths of weighted sums of independent draws.

    Args:
        variances: Of the sums; what has none has no error.
        loads: At least the greatest absolute weight that a draw has in each sum.
        quantile: How many standard deviations to take.
    """
    widths = quantile * np.sqrt(variances) + STEP * loads
    return np.asarray(np.where(variances > 0, widths, 0.0))
