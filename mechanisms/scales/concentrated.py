"""Rho of zero-concentrated differential privacy told as an epsilon, and back."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from privacy.losses import NANO, Loss
from privacy.measures import Measure

_SPARE: Final = 1e-9
"""Relatively more than float64 may be wrong by in one conversion."""


@lru_cache(4_096)
def epsilon_ceil(rho: Loss, delta: Loss) -> Loss:
    """Return an epsilon such that rho-zCDP is (epsilon, delta)-DP, rounded up.

    Args:
        rho: At least 0.
        delta: Above 0 and below 1.

    Any order alpha above 1 gives such an epsilon; the least over a search is taken, so
    a search that ends early only tells more.

    Neighbouring relation: that of the rho.
    Source: Canonne, Kamath and Steinke 2020, Proposition 12 (arXiv 2004.00010);
    docs/proofs/zcdp.md.

    >>> str(epsilon_ceil(Loss.parse("0.1"), Loss.parse("0.000001")))[:4]
    '2.14'
    """
    if rho.nano_epsilon == 0:
        return rho
    given = float(rho.epsilon), float(delta.epsilon)
    near = min(_ORDERS, key=lambda log_order: _epsilon(*given, log_order))
    steps = (near + _FINE * place for place in range(-_STEPS, _STEPS + 1))
    least = min(_epsilon(*given, log_order) for log_order in steps)
    return Loss(math.ceil(Fraction(least * (1 + _SPARE)) * NANO) + 1)


def rho_ceil(epsilon: Loss) -> Loss:
    """Return a rho such that every epsilon-DP mechanism is rho-zCDP, rounded up.

    The lesser of half the square of epsilon and epsilon itself.

    Neighbouring relation: that of the epsilon.
    Source: Bun and Steinke 2016, Proposition 3.3; docs/proofs/zcdp.md.

    >>> str(rho_ceil(Loss.parse("0.1")))
    '0.005'
    >>> str(rho_ceil(Loss.parse("3")))
    '3'
    """
    exact = min(epsilon.epsilon**2 / 2, epsilon.epsilon)
    return Loss(math.ceil(exact * NANO))


def pure_ceil(measure: Measure, epsilon: Loss) -> Loss:
    """Return what an epsilon-DP mechanism costs in a measure."""
    return epsilon if measure.is_pure else rho_ceil(epsilon)


_STEPS: Final = 100
_FINE: Final = 0.1 / _STEPS
_ORDERS: Final = tuple(0.1 * place for place in range(-80, 200))
"""Logarithms of the orders, less 1, that are tried first: from 0.0003 to 4e8."""


def _epsilon(rho: float, delta: float, log_order: float) -> float:
    above_one = math.exp(log_order)
    alpha = 1 + above_one
    log_odds = -(math.log(delta) + math.log(alpha)) / above_one
    return max(0.0, rho * alpha + log_odds + math.log1p(-1 / alpha))
