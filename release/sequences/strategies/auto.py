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

SHORT: Final = 8
"""Sequences of at most so many symbols are told whole by a prefix tree."""

MIDDLE: Final = 16
"""Up to so many a prefix tree tells more than n-grams, where there are many units."""

MANY: Final = 20_000.0
"""Units times epsilon over symbols; chosen on MSNBC and Sepsis, cut to 6, 12 and 30
symbols (docs/releases-accuracy.md)."""

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
        total = share(parameters, "total_share", TOTAL_SHARE)
        total_part, rest = divide(loss, [("total", total), ("rest", 1 - total)])
        refuse_too_small(1, total_part.loss)
        for name in picks(domain):  # any may be picked once the total is drawn
            self._strategies[name].parts(domain, rest.loss, {})
        return total_part, rest

    def expectation(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what is foretold of the pick, where public facts decide it."""
        _, rest = self.parts(domain, loss, parameters)
        names = picks(domain)
        if len(names) == 1:
            return self._strategies[names[0]].expectation(domain, rest.loss, {})
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words=f"From {names[0]} for few units to {names[-1]} for many.",
        )

    def measure(
        self, sequences: SealedSequences, meter: Meter, parameters: Parameters
    ) -> SequenceModel:
        """Count units, pick, measure. Neighbours: add or remove all rows of a unit."""
        refuse_unknown(parameters, _KNOWN)
        domain = sequences.domain
        total = meter.counts("total", sequences.total(), 1)
        rest = meter.left("rest")
        noisy_total = int(total.values[0])
        name = pick(domain, max(0, noisy_total) * float(rest.epsilon))
        strategy = self._strategies[name]
        inner = meter.divide("rest", strategy.parts(domain, rest, {}))
        return PickedSequences(
            inner=strategy.measure(sequences, inner, {}),
            strategy=name,
            noisy_total=noisy_total,
            total_scale=total.scale,
        )


def picks(domain: SequenceDomain) -> tuple[str, ...]:
    """Return the strategies of which the noisy total picks one, few units first."""
    if domain.max_length <= SHORT:
        return ("prefix_tree",)
    return ("ngram", "prefix_tree") if domain.max_length <= MIDDLE else ("ngram",)


def pick(domain: SequenceDomain, load: float) -> str:
    """Return what suits a domain at a load.

    Args:
        domain: Public.
        load: Noisy units times epsilon; a noisy value.
    """
    names = picks(domain)
    return names[-1] if load >= MANY * domain.symbols else names[0]
