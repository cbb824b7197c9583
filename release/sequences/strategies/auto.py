"""Picks a strategy for sequences by a fixed public rule and noisy lengths."""

from collections.abc import Mapping
from typing import Final

from mechanisms.meter import Meter, Part
from privacy.losses import Loss
from release.sequences.bands import Bands, band_starts
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

MANY: Final = 10_000.0
"""Symbols times epsilon from which n-grams err less than a prefix tree, on mean over
made-up logs of eleven shapes (docs/sequences-accuracy.md)."""

PICKS: Final = ("prefix_tree", "ngram")
"""The strategies of which noisy lengths pick one, for few symbols and for many."""

_KNOWN: Final = ("total_share",)


class AutoSequences:
    """Spends a small part on lengths, and the rest as the picked strategy does.

    Source: docs/proofs/auto.md.
    """

    name = "auto"

    def __init__(self, strategies: Mapping[str, SequenceStrategy]) -> None:
        self._strategies = strategies

    def parts(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the part of the lengths, and the rest."""
        refuse_unknown(parameters, _KNOWN)
        own = share(parameters, "total_share", TOTAL_SHARE)
        lengths, rest = divide(loss, [("total", own), ("rest", 1 - own)])
        refuse_too_small(1, lengths.loss)
        for name in PICKS:  # either may be picked once the lengths are drawn
            self._strategies[name].parts(domain, rest.loss, {})
        return lengths, rest

    def expectation(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return which strategy is picked when: noisy lengths decide."""
        self.parts(domain, loss, parameters)
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words=f"{PICKS[0]} for few symbols times epsilon, {PICKS[-1]} from "
            f"{MANY:,.0f} on.",
        )

    def measure(
        self, sequences: SealedSequences, meter: Meter, parameters: Parameters
    ) -> SequenceModel:
        """Count lengths, pick, measure. Neighbours: add or remove one unit's rows."""
        refuse_unknown(parameters, _KNOWN)
        domain = sequences.domain
        firsts = band_starts(domain.max_length)
        noisy = meter.counts("total", sequences.length_bands(firsts), 1)
        counts = noisy.values.reshape(domain.groups, len(firsts))
        bands = Bands(domain.max_length, counts, noisy.scale)
        rest = meter.left("rest")
        name = pick(float(bands.starts(1).sum()) * float(rest.epsilon))
        strategy = self._strategies[name]
        inner = meter.divide("rest", strategy.parts(domain, rest, {}))
        return PickedSequences(
            inner=strategy.measure(sequences, inner, {}),
            strategy=name,
            noisy_total=int(noisy.values.sum()),
            total_scale=noisy.scale,
            noisy_lengths=tuple(noisy.values.tolist()),
        )


def pick(load: float) -> str:
    """Return what suits noisy symbols times epsilon."""
    return PICKS[-1] if load >= MANY else PICKS[0]
