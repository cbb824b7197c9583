"""What every strategy and every published model of sequences offers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mechanisms.measuring.meter import Meter, Part
from privacy.losses import Loss
from release.contract.models import Facts, Table
from release.contract.sequence_domain import SequenceDomain
from release.contract.strategies import Expectation, Parameters
from release.sequences.estimation.paths import PathTree
from release.sequences.sealed.sealed import SealedSequences

Run = tuple[int, ...]
"""Symbols that follow each other at once, as codes."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a sequence release, with its 95 % half-width."""

    value: float
    half_width: float


class SequenceModel(Protocol):
    """A published release of sequences: noisy values and what follows from them."""

    @property
    def kind(self) -> str:
        """Name of the class that rebuilds it; stands in the manifest."""
        ...

    @property
    def domain(self) -> SequenceDomain:
        """What the release ranges over."""
        ...

    def facts(self) -> Facts:
        """Return what the manifest says of the model: scales, thresholds, the cut."""
        ...

    def tables(self) -> Mapping[str, Table]:
        """Return each file's columns, in canonical order; integers as drawn."""
        ...

    def paths(self) -> PathTree:
        """Return the tree that questions about units are answered from; made once."""
        ...

    def occurrences(self, runs: Sequence[Run]) -> list[Estimate]:
        """Return how often each run occurs: start positions in all sequences.

        Symbols beyond the cut are estimated, never counted.
        """
        ...


class SequenceStrategy(Protocol):
    """Spends a loss on sequences; stateless."""

    name: str

    def parts(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return how the loss divides; the parts' sum is exactly ``loss``.

        Raises:
            ReleaseRefusedError: The domain or a parameter does not fit the strategy.
        """
        ...

    def expectation(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the error that public facts foretell.

        Raises:
            ReleaseRefusedError: As ``parts``.
        """
        ...

    def measure(
        self, sequences: SealedSequences, meter: Meter, parameters: Parameters
    ) -> SequenceModel:
        """Spend the meter's parts, each once, and return what may be published.

        Neighbouring relation: add or remove all rows of one unit. Proof: the page of
        the strategy's name in docs/proofs.
        """
        ...
