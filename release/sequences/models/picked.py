"""What ``auto`` publishes of sequences: the picked strategy's model, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from release.contract.models import PublicFacts, Table
from release.contract.rebuilding import PICKED, Rebuilds, inner_model, picked_facts
from release.contract.sequence_domain import SequenceDomain
from release.sequences.contract import Estimate, Run, SequenceModel
from release.sequences.estimation.bands import Bands
from release.sequences.estimation.paths import PathTree

_EARLIER: Final = ("noisy_total", "total_scale", "noisy_lengths")
"""What the rules of earlier releases read."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rule of ``auto`` read, as drawn.

    Attributes:
        lengths: Units of each band of lengths, all groups together.
        lengths_scale: Of the noise of each.
        repeats: Units above the bars: in beginnings and in runs together, and how many
            more in beginnings.
        repeats_scale: Of the noise of each.
    """

    lengths: tuple[int, ...]
    lengths_scale: float
    repeats: tuple[int, ...]
    repeats_scale: float

    @classmethod
    def rebuilt(cls, facts: Mapping[str, object]) -> "Evidence":
        """Return what wrote these facts."""
        return cls(
            lengths=tuple(map(int, cast("list[int]", facts["lengths"]))),
            lengths_scale=float(str(facts["lengths_scale"])),
            repeats=tuple(map(int, cast("list[int]", facts["repeats"]))),
            repeats_scale=float(str(facts["repeats_scale"])),
        )

    def facts(self) -> PublicFacts:
        """Return the noisy numbers and their scales."""
        return {
            "lengths": list(self.lengths),
            "lengths_scale": self.lengths_scale,
            "repeats": list(self.repeats),
            "repeats_scale": self.repeats_scale,
        }


@dataclass(frozen=True, slots=True)
class PickedSequences:
    """Answers as the picked strategy's model does.

    Attributes:
        inner: That model.
        strategy: Which strategy was picked.
        evidence: What the rule read.
        earlier: What earlier rules read, of releases that were stored then, as written.
    """

    inner: SequenceModel
    strategy: str
    evidence: Evidence | None
    earlier: PublicFacts = field(default_factory=dict)

    @classmethod
    def rebuilt(
        cls,
        plain: Rebuilds[SequenceDomain, SequenceModel],
        domain: SequenceDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "PickedSequences":
        """Return the model that wrote these facts and tables.

        Args:
            plain: How each other kind of model is rebuilt.
            domain: What the release ranges over.
            facts: As written.
            tables: As written.
        """
        read = cast("Mapping[str, object] | None", facts.get("evidence"))
        return cls(
            inner=inner_model(plain, domain, facts, tables),
            strategy=str(facts["strategy"]),
            evidence=None if read is None else Evidence.rebuilt(read),
            earlier={name: facts[name] for name in _EARLIER if name in facts},
        )

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return PICKED

    @property
    def domain(self) -> SequenceDomain:
        """What the release ranges over."""
        return self.inner.domain

    def facts(self) -> PublicFacts:
        """Return the inner model's facts, which strategy was picked, and why."""
        read = {} if self.evidence is None else {"evidence": self.evidence.facts()}
        return {
            **self.earlier,
            **read,
            **picked_facts(self.strategy, self.inner.kind, self.inner.facts()),
        }

    def tables(self) -> Mapping[str, Table]:
        """Return the inner model's tables."""
        return self.inner.tables()

    def paths(self) -> PathTree:
        """Return the inner model's tree."""
        return self.inner.paths()

    def lengths(self) -> Bands | None:
        """Return the inner model's noisy lengths."""
        return self.inner.lengths()

    def occurrences(self, runs: Sequence[Run]) -> list[Estimate]:
        """Return the inner model's estimates."""
        return self.inner.occurrences(runs)
