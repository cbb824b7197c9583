"""A loss as it is told: epsilon, or rho where the population counts that."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any

_SHOWN = Decimal("0.001")


def word_of(told: Mapping[str, Any]) -> str:
    """Return what a charge, a price or an offer counts: epsilon or rho."""
    return "rho" if "rho" in told else "epsilon"


def loss_of(told: Mapping[str, Any]) -> str:
    """Return the loss, in what its population counts."""
    return str(told[word_of(told)])


def loss_in_column(told: Mapping[str, Any]) -> str:
    """Return a loss for a column of epsilons: a rho says that it is one."""
    is_rho = word_of(told) == "rho"
    return f"rho {loss_of(told)}" if is_rho else loss_of(told)


def loss_in_words(told: Mapping[str, Any]) -> str:
    """Return a loss for people; a rho with the epsilon that it amounts to.

    >>> loss_in_words({"epsilon": "0.3", "delta": "0"})
    'epsilon 0.3'
    >>> loss_in_words({"rho": "0.02", "epsilon": "0.901234567", "delta": "0.000001"})
    'rho 0.02 (epsilon 0.902 at delta 0.000001)'
    """
    said = f"{word_of(told)} {loss_of(told)}"
    if word_of(told) == "epsilon" or Decimal(loss_of(told)) == 0:
        return said
    epsilon = Decimal(str(told["epsilon"])).quantize(_SHOWN, ROUND_CEILING)
    at = f" at delta {told['delta']}" if "delta" in told else ""
    return f"{said} (epsilon {epsilon}{at})"
