"""What pure mechanisms cost in rho: the least that is proved, rounded up to 1e-9."""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from privacy.losses import MAX_NANO, NANO, Loss
from privacy.measures import Measure

_DIGITS = 60
_ROUNDING = Decimal("1e-40")


def pure_rho_ceil(loss: Loss) -> Loss:
    """Return a rho for which whatever is epsilon-differentially private is rho-zCDP.

    That is ``epsilon tanh(epsilon / 2)``, the least that holds for all mechanisms, and
    at most ``epsilon**2 / 2``.

    Args:
        loss: A pure loss.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/zcdp.md.

    >>> str(pure_rho_ceil(Loss.parse("0.1"))), str(pure_rho_ceil(Loss.parse("1")))
    ('0.004995838', '0.462117158')
    """

    def exactly() -> Decimal:
        epsilon = _decimal(loss.epsilon)
        fall = (-epsilon).exp()
        return epsilon * (1 - fall) / (1 + fall)

    return _nano_ceil(exactly, 0)


def pure_ceil(measure: Measure, epsilon: Loss) -> Loss:
    """Return what an epsilon-DP mechanism costs in a measure, rounded up.

    Neighbouring relation: add or remove all rows of one unit.
    """
    return epsilon if measure.is_pure else pure_rho_ceil(epsilon)


def pure_loss_floor(rho: Loss) -> Loss:
    """Return the most epsilon that a rho pays for, whatever the mechanism is.

    Args:
        rho: Of zCDP.

    Returns:
        The greatest multiple of 1e-9 whose ``pure_rho_ceil`` is at most ``rho``; 0
        where there is none.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/zcdp.md.

    >>> str(pure_loss_floor(Loss.parse("0.462117158")))
    '1'
    """
    # tanh(e/2) is at least 1/2 from e = 1.1 on, so e is at most 2 rho there
    low, high = 0, min(MAX_NANO, 2 * rho.nano_epsilon + 2 * NANO)
    while low < high:
        middle = (low + high + 1) // 2
        if pure_rho_ceil(Loss(middle)) <= rho:
            low = middle
        else:
            high = middle - 1
    return Loss(low)


def laplace_rho_ceil(l1_sensitivity: int, scale: float) -> Loss:
    """Return a rho for which discrete Laplace noise on a vector is rho-zCDP.

    With a = exp(-1/t) that is ``(D - 2 a (1 - a**D) / (1 - a**2)) / t``, the least that
    holds where one unit may move a single cell by D.

    Args:
        l1_sensitivity: D, the L1 sensitivity of the vector, at least 0, in grid steps.
        scale: t, of the noise, in grid steps, exact as ``Fraction(scale)``.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/zcdp.md.

    >>> str(laplace_rho_ceil(1, 1.0)), str(laplace_rho_ceil(1, 1000.0))
    ('0.462117158', '0.0000005')
    """
    if l1_sensitivity == 0:
        return Loss(0)
    exact = Fraction(scale)

    def exactly() -> Decimal:
        rate = _decimal(1 / exact)
        base = (-rate).exp()
        far = (-rate * l1_sensitivity).exp()
        return rate * (l1_sensitivity - 2 * base * (1 - far) / (1 - base * base))

    # 1 - a is no less than 1/2 or 1/(2 t), and what is left no less than 1/(4 t)**2
    return _nano_ceil(exactly, 6 * len(str(math.ceil(exact + l1_sensitivity))))


def bounded_range_rho(range_: Fraction) -> Fraction:
    """Return the rho of a mechanism whose log-ratios lie within ``range_`` of another.

    The exponential mechanism of scores that one unit moves by at most S, at scale t,
    has the range 2 S / t, which is also its pure loss: an eighth of its square is a
    quarter of what any mechanism of that loss may cost.

    Args:
        range_: How far apart two log-ratios of probabilities can lie at most.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/zcdp.md.

    >>> bounded_range_rho(Fraction(1, 2))
    Fraction(1, 32)
    """
    return range_**2 / 8


def _nano_ceil(exactly: Callable[[], Decimal], lost_digits: int) -> Loss:
    """Return a formula's value rounded up, with digits to spare for differences."""
    with localcontext(Context(prec=_DIGITS + lost_digits)):
        return Loss(math.ceil(Fraction(exactly() + _ROUNDING) * NANO))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
