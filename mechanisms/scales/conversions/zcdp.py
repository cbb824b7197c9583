"""What a loss in rho is as (epsilon, delta): the least that is proved, rounded up."""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from privacy.losses import MAX_NANO, NANO, Loss

_CACHED = 4_096
_DIGITS = 60
_ROUNDING = Decimal("1e-40")
_HALVINGS = 100
_FARTHEST = 64.0
"""Of the logarithm of the order less 1, on either side."""


@lru_cache(_CACHED)
def epsilon_ceil(loss: Loss, delta: Fraction) -> Loss:
    """Return an epsilon with which rho-zCDP is (epsilon, delta)-differentially private.

    Args:
        loss: A rho, of one mechanism or of all that were composed.
        delta: Strictly between 0 and 1.

    Returns:
        The least, over a > 1, of ``rho a + ln(1/(a delta))/(a - 1) + ln(1 - 1/a)``,
        but for what lies between the best order and the one found, rounded up to 1e-9.

    Raises:
        ValueError: ``delta`` is out of range, or the epsilon is beyond 2**62 nano.

    Neighbouring relation: add or remove all rows of one unit.
    Source: Canonne, Kamath and Steinke 2020; docs/proofs/zcdp.md.

    >>> str(epsilon_ceil(Loss(100_000_000), Fraction(1, 10**6)))
    '2.141938929'
    """
    if not 0 < delta < 1:
        message = f"a delta lies strictly between 0 and 1, not {delta}"
        raise ValueError(message)
    if loss.nano_epsilon == 0:
        return Loss(0)
    at_best = epsilon_at_order(loss.epsilon, delta, best_order(loss.epsilon, delta))
    nano = math.ceil(at_best * NANO)
    if nano > MAX_NANO:
        message = f"this rho is more than an epsilon of 2**62 nano: {loss}"
        raise ValueError(message)
    return Loss(max(0, nano))


@lru_cache(_CACHED)
def odds_epsilon_ceil(loss: Loss, delta: Fraction) -> Loss:
    """Return an epsilon that a log-likelihood ratio passes with at most ``delta``.

    It is more than ``epsilon_ceil`` where rho is small: what is (epsilon,
    delta)-differentially private may have ratios beyond e to the epsilon with more
    probability than delta.

    Args:
        loss: A rho, of one mechanism or of all that were composed.
        delta: Strictly between 0 and 1.

    Returns:
        ``rho + 2 sqrt(rho ln(1/delta))``, rounded up to 1e-9.

    Raises:
        ValueError: ``delta`` is out of range, or the epsilon is beyond 2**62 nano.

    Neighbouring relation: add or remove all rows of one unit, in either order.
    Source: Bun and Steinke 2016; docs/proofs/zcdp.md.

    >>> str(odds_epsilon_ceil(Loss(100_000_000), Fraction(1, 10**6)))
    '2.450788001'
    """
    if not 0 < delta < 1:
        message = f"a delta lies strictly between 0 and 1, not {delta}"
        raise ValueError(message)
    rho = loss.epsilon
    digits = _DIGITS + len(str(math.ceil(rho))) + len(str(math.ceil(1 / delta)))
    with localcontext(Context(prec=digits)):
        root = (_decimal(rho) * _log(1 / delta)).sqrt()
        nano = math.ceil((rho + 2 * Fraction(root + (root + 1) * _ROUNDING)) * NANO)
    if nano > MAX_NANO:
        message = f"this rho is more than an epsilon of 2**62 nano: {loss}"
        raise ValueError(message)
    return Loss(0) if loss == Loss(0) else Loss(nano)


def epsilon_at_order(rho: Fraction, delta: Fraction, order: Fraction) -> Fraction:
    """Return at least the epsilon that one order proves.

    Args:
        rho: Of zCDP, at least 0.
        delta: Strictly between 0 and 1.
        order: Of the Renyi divergence, above 1.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/zcdp.md.
    """
    digits = _DIGITS + len(str(math.ceil(order + rho))) + len(str(math.ceil(1 / delta)))
    digits += len(str(math.ceil(1 / (order - 1))))
    with localcontext(Context(prec=digits)):
        first = _log(1 / (order * delta)) / _decimal(order - 1)
        second = _log(1 - 1 / order)
        spare = (abs(first) + abs(second) + 1) * _ROUNDING
        return rho * order + Fraction(first + second + spare)


def best_order(rho: Fraction, delta: Fraction) -> Fraction:
    """Return about the order that proves the least; whichever it is, it proves it."""
    slope, log_delta = (
        float(rho),
        math.log(delta.numerator) - math.log(delta.denominator),
    )

    def proved(log_excess: float) -> float:
        excess = math.exp(log_excess)
        rest = -math.log1p(excess) - log_delta
        return slope * (1 + excess) + rest / excess + log_excess - math.log1p(excess)

    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_HALVINGS):
        third = (high - low) / 3
        if proved(low + third) <= proved(high - third):
            high -= third
        else:
            low += third
    return 1 + Fraction(math.exp((low + high) / 2))


def _log(value: Fraction) -> Decimal:
    return _decimal(value).ln()


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
