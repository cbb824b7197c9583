"""Picks a strategy for sequences by a fixed public rule and a noisy total."""

from collections.abc import Mapping
from typing import Final

from mechanisms.meter import Meter, Part
from privacy.losses import Loss
from release.sequences.contract import SequenceModel, SequenceStrategy
from release.sequences.domain import SequenceDomain
from release.sequences.models.picked import PickedSequences
from release.sequences.sealed import SealedSequences
from release.strategies.contract import Expectation, Parameters
from release.strategies.parameters import (
    divide,
    refuse_too_small,
    refuse_unknown,
    share,
)

TOTAL_SHARE: Final = "0.02"

MANY: Final = 250.0
"""Units of each value of the split, times epsilon, from which n-grams err less than a
prefix tree on most made-up logs of eleven shapes (docs/sequences-accuracy.md)."""

PICKS: Final = ("prefix_tree", "ngram")
"""The strategies of which a noisy total picks one, for few units and for many."""

_KNOWN: Final = ("total_share",)


class AutoSequences:
    """Spends a small part on the total, and the rest as the picked strategy does.

    Source: docs/proofs/auto.md.
    """

    name = "auto"

    def __init__(self, strategies: Mapping[str, SequenceStrategy]) -> None:
        self._strategies = strategies

    def parts(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the part of the total, and the rest."""
        refuse_unknown(parameters, _KNOWN)
        own = share(parameters, "total_share", TOTAL_SHARE)
        total, rest = divide(loss, [("total", own), ("rest", 1 - own)])
        refuse_too_small(1, total.loss)
        for name in PICKS:  # either may be picked once the total is drawn
            self._strategies[name].parts(domain, rest.loss, {})
        return total, rest

    def expectation(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return which strategy is picked when: a noisy total decides."""
        self.parts(domain, loss, parameters)
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words=f"{PICKS[0]} for few units times epsilon, {PICKS[-1]} from "
            f"{MANY * domain.groups:,.0f} on.",
        )

    def measure(
        self, sequences: SealedSequences, meter: Meter, parameters: Parameters
    ) -> SequenceModel:
        """Count units, pick, measure. Neighbours: add or remove one unit's rows."""
        refuse_unknown(parameters, _KNOWN)
        domain = sequences.domain
        noisy = meter.counts("total", sequences.total(), 1)
        units, rest = int(noisy.values[0]), meter.left("rest")
        name = pick(units / domain.groups * float(rest.epsilon))
        strategy = self._strategies[name]
        inner = meter.divide("rest", strategy.parts(domain, rest, {}))
        return PickedSequences(
            inner=strategy.measure(sequences, inner, {}),
            strategy=name,
            noisy_total=units,
            total_scale=noisy.scale,
        )


def pick(load: float) -> str:
    """Return what suits so many noisy units of each group times epsilon."""
    return PICKS[-1] if load >= MANY else PICKS[0]
