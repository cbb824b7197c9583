"""The scale rule of discrete Gaussian noise: the least sigma that a rho pays for."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from mechanisms.samplers.laplace import opendp_rho_ceil
from mechanisms.scales.calibration import MAX_SENSITIVITY, least_scale, too_wide
from privacy.errors import InvalidLossError
from privacy.losses import Loss

_CACHED_SCALES = 4_096
_MAX_SQUARED: Final = MAX_SENSITIVITY**2


@lru_cache(_CACHED_SCALES)
def gaussian_scale(l2_squared: Fraction, loss: Loss) -> float:
    """Return the least sigma at which discrete Gaussian noise spends at most a rho.

    Args:
        l2_squared: Square of the L2 sensitivity, positive, in squared grid steps.
        loss: What this vector may spend, as rho.

    Returns:
        The least float64 at or above ``sqrt(l2_squared / (2 rho))`` for which both the
        exact rho and the one that OpenDP states are at most ``loss``, compared as
        fractions. In grid steps.

    Raises:
        InvalidLossError: The loss is zero, or needs a sigma beyond 2**40.
        ValueError: ``l2_squared`` is not positive.

    Neighbouring relation: add or remove all rows of one unit.
    Source: Bun and Steinke 2016; Canonne, Kamath and Steinke 2020; PRIVACY, section 4;
    proof in docs/proofs/discrete_gaussian.md.

    >>> gaussian_scale(Fraction(1), Loss.parse("0.005"))
    10.000000000000002
    """
    if l2_squared <= 0:
        message = f"a squared L2 sensitivity is positive, not {l2_squared}"
        raise ValueError(message)
    if loss.nano_epsilon == 0:
        raise InvalidLossError(text=str(loss), reason="no noise can be had for nothing")
    if l2_squared <= min(Fraction(_MAX_SQUARED), loss.epsilon * 2**81):
        return least_scale(
            _root_ceil(l2_squared / (2 * loss.epsilon)),
            lambda scale: gaussian_spends_at_most(l2_squared, scale, loss),
            loss,
        )
    raise too_wide(loss)


@lru_cache(_CACHED_SCALES)
def gaussian_spends_at_most(l2_squared: Fraction, scale: float, loss: Loss) -> bool:
    """Whether noise of this sigma spends at most a rho, exactly and by OpenDP.

    Args:
        l2_squared: In squared grid steps, at most 2**124.
        scale: Sigma in grid steps, positive and finite.
        loss: What may be spent, as rho.

    Neighbouring relation: add or remove all rows of one unit.
    """
    if l2_squared / (2 * Fraction(scale) ** 2) > loss.epsilon:
        return False
    stated = opendp_rho_ceil(scale, _root_ceil(l2_squared))
    return Fraction(stated) <= loss.epsilon


def _root_ceil(value: Fraction) -> float:
    """Return the least float64 whose square is at least ``value``, exactly."""
    root = math.sqrt(value)
    while Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    while root > 0 and Fraction(math.nextafter(root, 0.0)) ** 2 >= value:
        root = math.nextafter(root, 0.0)
    return root
