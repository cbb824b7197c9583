"""How far weighted sums of discrete Gaussian noise reach: bounds, never estimates."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from mechanisms.scales.gaussian.half_widths import gaussian_half_width, half_width_of
from mechanisms.scales.gaussian.normal_quantiles import normal_quantile_ceil, root_ceil
from mechanisms.scales.grains import grain_of

Draws = tuple[Fraction, float, int]
"""Weight, scale in grid steps, and number of independent draws alike."""

_SMOOTH: Final = 2.0
"""From this scale on, a sum of like weights is as one draw, but for almost nothing."""

_MOST_ALIKE: Final = 2**30
_SPARE: Final = Fraction(1, 1000)
"""The part of the probability to miss that a sum may differ from one draw by."""

_HOEFFDING_SPARE: Final = Fraction(1, 100)
_LOG_SPARE = Fraction(1, 10**9)
_TINY: Final = 1e-280  # more than an exponential that underflows


def gaussian_sum_half_width(draws: Sequence[Draws], miss: Fraction) -> Fraction:
    r"""Return w with P(\|weighted sum of noise\| > w) at most ``miss``.

    Args:
        draws: Weight, scale in steps and number of independent draws alike.
        miss: Strictly between 0 and 1.

    One draw alone has its own half-width, and a sum of like weights that of one draw
    of the sum of variances; else it is an upper bound, rounded down to what the sum can
    be.

    Source: docs/proofs/discrete_gaussian.md.

    >>> gaussian_sum_half_width([(Fraction(2), 10.0, 1)], Fraction(5, 100))
    Fraction(40, 1)
    >>> gaussian_sum_half_width([(Fraction(1), 10.0, 4)], Fraction(5, 100))
    Fraction(39, 1)
    """
    moved = [(abs(w), scale, n) for w, scale, n in draws if w != 0 and n > 0]
    if not moved:
        return Fraction(0)
    first, scale, count = moved[0]
    if len(moved) == 1 and count == 1:
        return first * gaussian_half_width(scale, 1 - miss)
    grain = grain_of([w for w, _, _ in moved])
    reach = math.floor(_reach(moved, miss) / grain) * grain
    if any(w != first for w, _, _ in moved):
        return reach
    alike = _alike(moved, miss)
    return reach if alike is None else min(reach, first * alike)


def _alike(draws: Sequence[Draws], miss: Fraction) -> int | None:
    """Return the half-width of a sum of draws; None where it is not as one draw."""
    count = sum(n for _, _, n in draws)
    least = min(scale for _, scale, _ in draws)
    if least < _SMOOTH or count > _MOST_ALIKE:
        return None
    variance = sum((Fraction(s) ** 2 * n for _, s, n in draws), Fraction(0))
    width = half_width_of(variance, miss * (1 - _SPARE))
    distance = 5 * (width + 1) * count * math.exp(-((math.pi * least) ** 2)) + _TINY
    return width if distance < miss * _SPARE else None


def _reach(draws: Sequence[Draws], miss: Fraction) -> Fraction:
    """Return the least of three bounds that hold for any weights and scales."""
    variance = sum((w * w * Fraction(s) ** 2 * n for w, s, n in draws), Fraction(0))
    deviation = root_ceil(variance)
    few = normal_quantile_ceil(miss) * deviation + sum(w * n for w, _, n in draws)
    spare = miss * _HOEFFDING_SPARE
    many = normal_quantile_ceil(miss - spare) * deviation
    many += root_ceil(2 * _log_ceil(2 / spare) * sum(w * w * n for w, _, n in draws))
    chernoff = root_ceil(2 * _log_ceil(2 / miss)) * deviation
    return min(few, many, chernoff)


def _log_ceil(value: Fraction) -> Fraction:
    """Return at least the natural logarithm of a number above 1."""
    found = math.log(value.numerator) - math.log(value.denominator)
    return Fraction(found) * (1 + _LOG_SPARE) + _LOG_SPARE
