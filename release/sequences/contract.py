"""What every strategy and every published model of sequences offers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from release.contract.models import PublicFacts, Table
from release.contract.sequence_domain import SequenceDomain
from release.contract.strategies import Strategy
from release.sequences.estimation.bands import Bands
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

    def facts(self) -> PublicFacts:
        """Return what the manifest says of the model: scales, thresholds, the cut."""
        ...

    def tables(self) -> Mapping[str, Table]:
        """Return each file's columns, in canonical order; integers as drawn."""
        ...

    def paths(self) -> PathTree:
        """Return the tree that questions about units are answered from; made once."""
        ...

    def lengths(self) -> Bands | None:
        """Return the noisy lengths; None where the release has none."""
        ...

    def occurrences(self, runs: Sequence[Run]) -> list[Estimate]:
        """Return how often each run occurs: start positions in all sequences.

        Symbols beyond the cut are estimated, never counted.
        """
        ...


SequenceStrategy = Strategy[SequenceDomain, SealedSequences, SequenceModel]
