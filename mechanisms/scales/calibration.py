"""The scale rule: the least noise that a loss pays for, without any tolerance."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from mechanisms.samplers.laplace import opendp_epsilon_ceil
from privacy.errors import InvalidLossError
from privacy.losses import Loss

MAX_SCALE: Final = 2.0**40
"""Largest noise scale, in grid steps."""

MAX_SENSITIVITY: Final = 2**62
"""Largest L1 sensitivity that noise is calibrated to, in grid steps."""

_CACHED_SCALES = 4_096


@lru_cache(_CACHED_SCALES)
def laplace_scale(l1_sensitivity: Fraction, loss: Loss) -> float:
    """Return the least scale at which discrete Laplace noise spends at most ``loss``.

    Args:
        l1_sensitivity: Positive integer, in steps of the column's grid.
        loss: What this vector may spend.

    Returns:
        The least float64 at or above ``l1_sensitivity / epsilon`` for which both the
        exact loss and the one that OpenDP states are at most ``loss``, compared as
        fractions. In grid steps.

    Raises:
        InvalidLossError: The loss is zero, or needs a scale beyond 2**40.
        ValueError: ``l1_sensitivity`` is not a positive integer.

    Neighbouring relation: add or remove all rows of one unit.
    Source: PRIVACY, section 4; proof in docs/proofs/discrete_laplace.md.

    >>> laplace_scale(Fraction(1), Loss.parse("0.1"))
    10.000000000000002
    """
    _check_sensitivity(l1_sensitivity)
    if loss.nano_epsilon == 0:
        raise InvalidLossError(text=str(loss), reason="no noise can be had for nothing")
    if l1_sensitivity <= min(Fraction(MAX_SENSITIVITY), loss.epsilon * 2**40):
        return least_scale(
            _float_ceil(l1_sensitivity / loss.epsilon),
            lambda scale: spends_at_most(l1_sensitivity, scale, loss),
            loss,
        )
    raise too_wide(loss)


def least_scale(start: float, spends: Callable[[float], bool], loss: Loss) -> float:
    """Return the least float64 from ``start`` on that spends at most a loss.

    Args:
        start: In grid steps.
        spends: Whether noise of a scale does; true of every greater one too.
        loss: What may be spent.

    Raises:
        InvalidLossError: It would be beyond 2**40.
    """
    scale = start
    while scale <= MAX_SCALE:
        if spends(scale):
            return scale
        scale = math.nextafter(scale, math.inf)
    raise too_wide(loss)


def too_wide(loss: Loss) -> InvalidLossError:
    """Return the refusal of a loss that is too small for any noise."""
    return InvalidLossError(
        text=str(loss),
        reason="the noise would be wider than 2**40; spend more, or bound more: values "
        "by LEAST(GREATEST(x, low), high), their decimals by ROUND(x, 0)",
    )


@lru_cache(_CACHED_SCALES)
def spends_at_most(l1_sensitivity: Fraction, scale: float, loss: Loss) -> bool:
    """Whether noise of this scale spends at most ``loss``, exactly and by OpenDP.

    Args:
        l1_sensitivity: Integer, in grid steps, at most 2**62.
        scale: Noise scale in grid steps, positive and finite.
        loss: What may be spent.

    Neighbouring relation: add or remove all rows of one unit.
    """
    exact = l1_sensitivity / Fraction(scale)
    if exact > loss.epsilon:
        return False
    stated = opendp_epsilon_ceil(scale, math.ceil(l1_sensitivity))
    return Fraction(stated) <= loss.epsilon


def _check_sensitivity(l1_sensitivity: Fraction) -> None:
    if l1_sensitivity.denominator != 1 or l1_sensitivity <= 0:
        message = f"an L1 sensitivity is a positive integer, not {l1_sensitivity}"
        raise ValueError(message)


def _float_ceil(value: Fraction) -> float:
    """Return the least float64 at or above ``value``."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
