"""How wide noise is: exact half-widths of discrete Laplace noise."""

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

_DIGITS: Final = 60
_CONTEXT: Final = Context(prec=_DIGITS, Emin=-(10**9), Emax=10**9)


@lru_cache(4_096)
def half_width(scale: float, confidence: Fraction) -> int:
    """Return the least integer w with ``P(|noise| <= w) >= confidence``.

    With ``a = exp(-1/scale)``, ``P(|noise| > w) = 2 a**(w+1) / (1 + a)``, so the least
    w is at or above ``ln((1 - confidence) (1 + a) / 2) / ln(a) - 1``. Worked in 60
    digits; the neighbours of the rounded solution are compared, so that w is the least.

    Args:
        scale: Noise scale, in grid steps.
        confidence: In (0, 1).

    Source: docs/proofs/discrete_laplace.md.

    >>> half_width(10.0, Fraction(95, 100))
    30
    """
    if not 0 < confidence < 1 or scale <= 0:
        message = "a half-width needs a scale and a confidence in (0, 1)"
        raise ValueError(message)
    rate = _CONTEXT.divide(Decimal(1), Decimal(scale))
    bound = _log_tail_bound(rate, 1 - confidence)
    exact = _CONTEXT.subtract(_CONTEXT.divide(_CONTEXT.minus(bound), rate), Decimal(1))
    guess = max(0, int(exact.to_integral_value(ROUND_CEILING)))
    while guess > 0 and _covers(guess - 1, rate, bound):
        guess -= 1
    while not _covers(guess, rate, bound):
        guess += 1
    return guess


def _log_tail_bound(rate: Decimal, tail: Fraction) -> Decimal:
    """Return ``ln(tail (1 + a) / 2)`` for ``a = exp(-rate)``."""
    share = _CONTEXT.divide(Decimal(tail.numerator), Decimal(tail.denominator))
    one_plus_a = _CONTEXT.add(Decimal(1), _CONTEXT.exp(_CONTEXT.minus(rate)))
    product = _CONTEXT.multiply(share, one_plus_a)
    return _CONTEXT.ln(_CONTEXT.divide(product, Decimal(2)))


def _covers(width: int, rate: Decimal, bound: Decimal) -> bool:
    """Whether ``a**(width + 1)`` is at most the tail's bound, by logarithms."""
    return _CONTEXT.multiply(Decimal(-(width + 1)), rate) <= bound
