"""Variances and 95 % half-widths of sums of noise, discrete Laplace or Gaussian."""

import math
from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.scales.gaussian.half_widths import gaussian_half_width
from mechanisms.scales.noises import LAPLACE, Noise
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


_SUMMED: Final = 8.0
"""Scale of Gaussian noise up to which its variance is summed; from there on it is the
scale's square, but for less than 1e-500 of it."""

_WHOLE: Final = 0.999
"""Most of a step: what an interval may be wider by without holding another number."""


def noise_variance(scale: float, noise: Noise = LAPLACE) -> float:
    """Return the variance of one draw of noise, in squared grid steps.

    >>> round(noise_variance(10.0), 3)
    199.833
    """
    if noise.has_l2:
        return _gaussian_variance(scale)
    return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > 1e-2 else 0.0  # noqa: PLR2004 - below it, exp(-100)


def _gaussian_variance(scale: float) -> float:
    if scale > _SUMMED:
        return scale**2
    steps = np.arange(1, 40 * math.ceil(scale) + 2)
    weights = np.exp(-np.square(steps / scale) / 2)
    return float(2 * (weights @ np.square(steps)) / (1 + 2 * weights.sum()))


def weighted_quantile(noise: Noise) -> float:
    """Return what a weighted sum's standard deviation is multiplied with, for 95 %."""
    return NORMAL_QUANTILE if noise.has_l2 else WEIGHTED_QUANTILE


def draw_half_width(scale: float, noise: Noise = LAPLACE) -> float:
    """Return a real x so that one draw passes it 5 times in 100 at most.

    The last whole step within x is the exact half-width. Times what another confidence
    takes, x holds at that one too; the whole step, often 0, does not.
    """
    if noise.has_l2:
        exact = gaussian_half_width(scale, CONFIDENCE)
        return min(max(NORMAL_QUANTILE * scale + STEP, exact), exact + _WHOLE)
    a = math.exp(-1 / scale)
    return scale * math.log(2 / ((1 + a) * _MISSES))


def sum_half_widths(
    draws: IntArray, scale: float, noise: Noise = LAPLACE
) -> FloatArray:
    """Return 95 % half-widths of sums of independent draws of one scale.

    Args:
        draws: How many draws each sum has; 0 has no error.
        scale: Of each draw, in grid steps.
        noise: Its kind.

    Returns:
        Real numbers, more than 0 wherever there is noise: the errors are whole, so an
        interval ends at the last whole step within.
    """
    some = np.maximum(draws, 1)
    surplus = 0.0 if noise.has_l2 else TAIL_SURPLUS
    quantile = NORMAL_QUANTILE + surplus / some
    widths = quantile * np.sqrt(some * noise_variance(scale, noise)) + STEP
    widths[draws == 1] = draw_half_width(scale, noise)
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
