"""Picks a strategy for sequences by a fixed public rule and noisy evidence."""

from collections.abc import Mapping
from typing import Final

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.noises import LAPLACE, Noise
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.contract.parameters import (
    divide,
    refuse_too_small,
    refuse_unknown,
    share,
)
from release.contract.sequence_domain import SequenceDomain
from release.contract.strategies import Expectation, Parameters
from release.sequences.contract import SequenceModel, SequenceStrategy
from release.sequences.estimation.bands import Bands, band_starts
from release.sequences.models.picked import Evidence, PickedSequences
from release.sequences.sealed.sealed import SealedSequences
from release.sequences.strategies.evidence import (
    MANY,
    PICKS,
    bars_for,
    pick,
    worth,
)

LENGTHS_SHARE: Final = "0.02"
REPEATS_SHARE: Final = "0.03"
"""Shares of the loss: for lengths of sequences, and for how many units are alike."""

MOVES: Final = 2
"""L1 sensitivity of the two numbers of ``repeats``, to adding or removing one unit."""

MOVES_SQUARED: Final = 4
"""L2 sensitivity of them, squared: (a + b)**2 + (a - b)**2 = 2 (a**2 + b**2), at most
4, a and b being 0 or 1."""

_KNOWN: Final = ("lengths_share", "repeats_share")


class AutoSequences:
    """Spends a small part on evidence, and the rest as the picked strategy does.

    Source: docs/proofs/auto.md.
    """

    name = "auto"

    def __init__(
        self, strategies: Mapping[str, SequenceStrategy], noise: Noise = LAPLACE
    ) -> None:
        self._strategies = strategies
        self.noise = noise

    def parts(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the parts of lengths and of repeats, and the rest."""
        refuse_unknown(parameters, _KNOWN)
        lengths = share(parameters, "lengths_share", LENGTHS_SHARE)
        repeats = share(parameters, "repeats_share", REPEATS_SHARE)
        if lengths + repeats >= 1:
            message = "lengths_share and repeats_share leave nothing for the release"
            raise ReleaseRefusedError(message)
        shares = [("lengths", lengths), ("repeats", repeats)]
        parts = divide(loss, [*shares, ("rest", 1 - lengths - repeats)])
        refuse_too_small(1, parts[0].loss, self.noise)
        refuse_too_small(MOVES, parts[1].loss, self.noise, MOVES_SQUARED)
        for name in PICKS:  # either may be picked once the noise is drawn
            self._strategies[name].parts(domain, parts[2].loss, {})
        return parts

    def expectation(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return which strategy is picked when: noisy evidence decides."""
        parts = self.parts(domain, loss, parameters)
        many = MANY * domain.groups / worth(domain, parts[-1].loss, self.noise)
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words=f"{PICKS[0]} for few units, and where many units go the same ways; "
            f"else {PICKS[-1]}, from {many:,.0f} units on.",
        )

    def measure(
        self, sequences: SealedSequences, meter: Meter, parameters: Parameters
    ) -> SequenceModel:
        """Measure evidence, pick, measure.

        Neighbouring relation: add or remove all rows of one unit.
        """
        refuse_unknown(parameters, _KNOWN)
        domain, rest = sequences.domain, meter.left("rest")
        evidence = _measured(sequences, meter)
        name = pick(domain, rest, evidence, meter.noise)
        strategy = self._strategies[name]
        inner = meter.divide("rest", strategy.parts(domain, rest, {}))
        return PickedSequences(
            inner=strategy.measure(sequences, inner, {}),
            strategy=name,
            evidence=evidence,
        )


def _measured(sequences: SealedSequences, meter: Meter) -> Evidence:
    """Measure lengths; then, of units so long, how many share what they do.

    Neighbouring relation: add or remove all rows of one unit. It moves one length by 1,
    and both other numbers together by 2 at most.
    """
    domain = sequences.domain
    firsts = band_starts(domain.max_length)
    lengths = meter.counts("lengths", sequences.lengths(firsts), 1)
    bands = Bands(domain.max_length, lengths.values.reshape(1, -1), lengths.scale)
    bars = bars_for(domain, meter.left("rest"), bands, meter.noise)
    found = sequences.repeats(bars)
    repeats = meter.counts("repeats", found, MOVES, l2_squared=MOVES_SQUARED)
    return Evidence(
        lengths=tuple(lengths.values.tolist()),
        lengths_scale=lengths.scale,
        repeats=tuple(repeats.values.tolist()),
        repeats_scale=repeats.scale,
    )
