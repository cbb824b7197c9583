"""Half-widths of noise, exact: none is a guess or rounded the wrong way."""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

_FIRST_PRECISION = 60
_CACHED_WIDTHS = 4_096


@lru_cache(_CACHED_WIDTHS)
def half_width(scale: float, confidence: Fraction) -> int:
    """Return the least w with ``P(|noise| <= w) >= confidence``.

    With a = exp(-1/scale), ``P(|noise| > w) = 2 a**(w+1) / (1+a)``. Hence w + 1 is the
    least integer at or above ``scale * ln(2 / ((1+a) (1-confidence)))``, which is never
    an integer itself; it is enclosed ever more narrowly until both ends agree.

    Args:
        scale: Scale of discrete Laplace noise, in grid steps, positive.
        confidence: Strictly between 0 and 1.

    Returns:
        The half-width in grid steps, for one cell, of noise alone.

    Raises:
        ValueError: ``confidence`` is not strictly between 0 and 1.

    Source: docs/proofs/discrete_laplace.md.

    >>> half_width(10.0, Fraction(95, 100))
    30
    """
    if not 0 < confidence < 1:
        message = f"a confidence lies strictly between 0 and 1, not {confidence}"
        raise ValueError(message)
    precision = _FIRST_PRECISION
    lowest, highest = _enclose(scale, confidence, precision)
    while lowest != highest:
        precision *= 2
        lowest, highest = _enclose(scale, confidence, precision)
    return lowest


def _enclose(scale: float, confidence: Fraction, precision: int) -> tuple[int, int]:
    """Return half-widths that the least one lies between, ends included.

    Every operation rounds to nearest, with relative error at most half of
    ``10**(1-precision)``; what they do to the bound together stays below ``slack``.
    """
    miss = 1 - confidence
    with localcontext(Context(prec=precision)):
        exact_scale = Decimal(scale)
        a = (-1 / exact_scale).exp()
        tails = Decimal(miss.numerator) / Decimal(miss.denominator)
        log_odds = (2 / ((1 + a) * tails)).ln()
        bound = exact_scale * log_odds
        slack = exact_scale * (log_odds + 1) * 16 * Decimal(10) ** (1 - precision)
        return _width(bound - slack), _width(bound + slack)


def _width(bound: Decimal) -> int:
    return max(0, math.ceil(bound) - 1)


def scale_estimate(width: int, confidence: Fraction) -> float:
    """Return about the largest scale whose half-width is at most ``width``.

    A start for a search, good to nearly all digits of a float; proves nothing.

    Args:
        width: Half-width in grid steps, at least 0.
        confidence: Strictly between 0 and 1.
    """
    miss = 1 - confidence
    log_miss = math.log(miss.numerator) - math.log(miss.denominator)
    low, high = -60.0, 60.0  # of the logarithm of the scale
    for _ in range(80):
        middle = (low + high) / 2
        rate = math.exp(-middle)
        log_tail = math.log(2) - (width + 1) * rate - math.log1p(math.exp(-rate))
        low, high = (middle, high) if log_tail <= log_miss else (low, middle)
    return math.exp(low)
