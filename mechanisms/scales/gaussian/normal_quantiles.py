"""Quantiles of the normal law, to thirty digits and never too small."""

from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final

_DIGITS = 60
_MARGIN: Final = 1 - Fraction(1, 10**30)
_CACHED_QUANTILES = 4_096
_NEWTON_STEPS = 200


@lru_cache(_CACHED_QUANTILES)
def normal_quantile_ceil(miss: Fraction) -> Fraction:
    r"""Return a z with P(\|N\| > z) at most ``miss (1 - 1e-30)``, N standard normal.

    It is the least such z but for 1e-28 of itself.

    Args:
        miss: Strictly between 0 and 1.

    Raises:
        ValueError: ``miss`` is out of range.

    Source: docs/proofs/discrete_gaussian.md.

    >>> round(float(normal_quantile_ceil(Fraction(5, 100))), 6)
    1.959964
    """
    if not 0 < miss < 1:
        message = f"a probability to miss lies strictly between 0 and 1, not {miss}"
        raise ValueError(message)
    digits = _DIGITS + 2 * len(str(miss.denominator // miss.numerator))
    with localcontext(Context(prec=digits)):
        quantile = _search(miss * _MARGIN * _MARGIN)
        step = quantile / 10**30
        while _tail_ceil(quantile, digits) > miss * _MARGIN:
            quantile += step
            step *= 2
        return Fraction(quantile)


def _search(miss: Fraction) -> Decimal:
    """Return about the quantile, by Newton's method on the logarithm of the tail.

    That is concave and falls, and the start lies above its zero: each step does, too.
    """
    wanted = Decimal(miss.numerator) / Decimal(miss.denominator)
    quantile = (-2 * wanted.ln()).sqrt()
    for _ in range(_NEWTON_STEPS):
        tail = 1 - _half_integral(quantile)
        slope = (2 / _pi()).sqrt() * (-quantile * quantile / 2).exp() / tail
        step = (wanted / tail).ln() / slope
        quantile = abs(quantile - step)
        if step < quantile * Decimal("1e-40"):
            break
    return quantile


def _tail_ceil(quantile: Decimal, digits: int) -> Fraction:
    r"""Return at least P(\|N\| > quantile).

    Fewer than a million roundings, of positive numbers until the last one.
    """
    return Fraction(1 - _half_integral(quantile)) + Fraction(1, 10 ** (digits - 8))


def _half_integral(quantile: Decimal) -> Decimal:
    r"""Return P(\|N\| <= quantile): a series of positive terms, summed to the end."""
    square = quantile * quantile
    term = found = quantile
    odd = 1
    while term > found.scaleb(-getcontext().prec) or square * 2 > odd:
        odd += 2
        term = term * square / odd
        found += term
    return (2 / _pi()).sqrt() * (-square / 2).exp() * found


@lru_cache(_CACHED_QUANTILES)
def _pi_of(digits: int) -> Decimal:
    """Return pi by Machin's formula, in integers, wrong by less than a unit."""
    one: int = 10 ** (digits + 10)

    def inverse_tangent(inverse: int) -> int:
        power = one // inverse
        found, odd, sign = power, 1, -1
        while power:
            power //= inverse * inverse
            odd += 2
            found += sign * (power // odd)
            sign = -sign
        return found

    scaled = 4 * (4 * inverse_tangent(5) - inverse_tangent(239))
    return Decimal(scaled // 10**10).scaleb(-digits)


def _pi() -> Decimal:
    return _pi_of(getcontext().prec)


def root_ceil(square: Fraction) -> Fraction:
    """Return a number at least the square root, by less than 1e-40 of it or so."""
    scaled = square * 10**120
    whole = isqrt(scaled.numerator // scaled.denominator) + 1
    return Fraction(whole, 10**60)
