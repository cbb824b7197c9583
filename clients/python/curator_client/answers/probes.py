"""Which probe makes an accuracy cheaper, by what a plan or a refusal says."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from curator_client.answers.losses import loss_of, word_of


def probe_of_plan(plan: dict[str, Any], at_most: str | None) -> dict[str, str] | None:
    """Return the loss to ask for first, by its word; None where none helps.

    Args:
        plan: Of an accuracy.
        at_most: What the accuracy may cost.
    """
    told = plan.get("priced_by") or {}
    probe, best = told.get("probe"), told.get("at_best")
    if probe is None or any(offer.get("suffices") for offer in plan["free"]):
        return None
    if at_most is not None and best is not None and Decimal(best) > Decimal(at_most):
        return None
    return {word_of(plan): probe}


def probe_of_refusal(problem: dict[str, Any]) -> dict[str, str] | None:
    """Return the loss to ask for first, where the accuracy may be had after it."""
    for way in problem.get("ways", ()):
        if way["kind"] == "probe":
            asked = way["request"]
            return {word: asked[word] for word in ("epsilon", "rho") if word in asked}
    return None


def costs_more(told: dict[str, Any], at_most: str | None) -> bool:
    """Whether the probe that a plan or a refusal names costs more than is allowed.

    What was paid for the question before makes it cheaper.

    >>> told = {"ways": [{"kind": "probe", "epsilon": "0.2", "delta": "0"}]}
    >>> costs_more(told, "0.15")
    True
    """
    prices = [loss_of(way) for way in told.get("ways", ()) if way["kind"] == "probe"]
    if at_most is None:
        return False
    return any(Decimal(price) > Decimal(str(at_most)) for price in prices)


def less(accuracy: dict[str, Any], spent: str) -> dict[str, Any]:
    """Return an accuracy that may cost so much less.

    >>> less({"relative": "5%", "at_most": "0.5"}, "0.2")
    {'relative': '5%', 'at_most': '0.3'}
    """
    if "at_most" not in accuracy:
        return accuracy
    left = max(Decimal(0), Decimal(str(accuracy["at_most"])) - Decimal(spent))
    return {**accuracy, "at_most": str(left)}
