"""Half-widths of discrete Gaussian noise: none is rounded the wrong way."""

import math
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Final

from mechanisms.scales.gaussian.normal_quantiles import normal_quantile_ceil, root_ceil

SUMMED: Final = Fraction(256)
"""Below this variance probabilities are summed; from it on the normal law bounds."""

_HALF = Fraction(1, 2)
_DIGITS = 60
_SPARE_DIGITS = 12
_CACHED_WIDTHS = 4_096
_FLOAT_SPARE = 1e-9
_TINY = 1e-300


def gaussian_half_width(scale: float, confidence: Fraction) -> int:
    r"""Return a w with P(\|noise\| <= w) at least ``confidence``.

    Args:
        scale: Of discrete Gaussian noise, in grid steps, positive.
        confidence: Strictly between 0 and 1.

    Returns:
        The half-width in grid steps, for one cell, of noise alone: the least one where
        the scale is below 16, and else seldom one more.

    Raises:
        ValueError: ``confidence`` is not strictly between 0 and 1.

    Source: docs/proofs/discrete_gaussian.md.

    >>> gaussian_half_width(10.0, Fraction(95, 100))
    20
    """
    return half_width_of(Fraction(scale) ** 2, 1 - confidence)


@lru_cache(_CACHED_WIDTHS)
def half_width_of(variance: Fraction, miss: Fraction) -> int:
    r"""Return a w with P(\|noise\| > w) at most ``miss``.

    Args:
        variance: Parameter of discrete Gaussian noise, positive, in squared steps.
        miss: Strictly between 0 and 1.

    Source: docs/proofs/discrete_gaussian.md.
    """
    if not 0 < miss < 1:
        message = f"a confidence lies strictly between 0 and 1, not {1 - miss}"
        raise ValueError(message)
    if variance < SUMMED:
        return _by_sums(variance, miss)
    reach = normal_quantile_ceil(miss) * root_ceil(variance)
    return max(0, math.ceil(reach - _HALF))


def gaussian_beyond(scale: float, width: int) -> float:
    r"""Return at least P(\|noise\| > width) of discrete Gaussian noise, in float64.

    Args:
        scale: In grid steps, positive.
        width: In grid steps, at least 0.

    Source: docs/proofs/discrete_gaussian.md.

    >>> 0.0402 < gaussian_beyond(10.0, 20) < 0.0404
    True
    """
    if scale * scale < SUMMED:
        found = _summed_beyond(scale, width)
    else:
        found = math.erfc((width + 0.5) / (scale * math.sqrt(2)))
    return min(1.0, found * (1 + _FLOAT_SPARE) + _TINY)


def _summed_beyond(scale: float, width: int) -> float:
    last = width + math.ceil(40 * scale) + 1
    outside = [math.exp(-((x / scale) ** 2) / 2) for x in range(width + 1, last + 1)]
    inside = [math.exp(-((x / scale) ** 2) / 2) for x in range(1, width + 1)]
    tail = math.fsum(outside)
    return 2 * tail / (1 + 2 * math.fsum([*inside, tail]))


def _by_sums(variance: Fraction, miss: Fraction) -> int:
    """Return the least half-width, of sums that are wrong by 1e-50 of themselves."""
    digits = _DIGITS + len(str(miss.denominator // miss.numerator))
    with localcontext(Context(prec=digits)):
        weights = _weights(variance)
        allowed = (1 + 2 * sum(weights, Decimal(0))) * miss.numerator / miss.denominator
        allowed -= allowed.scaleb(_SPARE_DIGITS - _DIGITS)
        tail, place = Decimal(0), len(weights)
        while place and 2 * (tail + weights[place - 1]) <= allowed:
            tail += weights[place - 1]
            place -= 1
        return place


def _weights(variance: Fraction) -> list[Decimal]:
    """Return ``exp(-x**2 / (2 variance))`` for x = 1, 2, ... to where nothing is left.

    Each is the one before times a ratio, and each ratio the one before times another.
    """
    exact = Decimal(variance.numerator) / Decimal(variance.denominator)
    ratio, fall = (-1 / (2 * exact)).exp(), (-1 / exact).exp()
    found, weight = [], Decimal(1)
    while weight > Decimal(1).scaleb(-getcontext().prec):
        weight *= ratio
        ratio *= fall
        found.append(weight)
    return found
