"""What ``auto`` publishes of sequences: the picked strategy's model, and why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from release.models.contract import Facts, Table
from release.sequences.contract import Estimate, Run, SequenceModel
from release.sequences.domain import SequenceDomain
from release.sequences.paths import PathTree

Rebuild = Callable[
    [SequenceDomain, Mapping[str, object], Mapping[str, Table]], SequenceModel
]


@dataclass(frozen=True, slots=True)
class PickedSequences:
    """Answers as the picked strategy's model does.

    Attributes:
        inner: That model.
        strategy: Which strategy was picked.
        noisy_total: Units, as drawn: what the rule read.
        total_scale: Of the noise of each draw.
        noisy_lengths: Units by group and band of lengths, where the rule read those: in
            releases of the second format.
    """

    inner: SequenceModel
    strategy: str
    noisy_total: int
    total_scale: float
    noisy_lengths: tuple[int, ...] = ()

    @classmethod
    def rebuilt(
        cls,
        plain: Mapping[str, Rebuild],
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
        own = cast("Mapping[str, object]", facts["model"])
        lengths = facts.get("noisy_lengths", [])
        return cls(
            inner=plain[str(facts["kind"])](domain, own, tables),
            strategy=str(facts["strategy"]),
            noisy_total=int(str(facts["noisy_total"])),
            total_scale=float(str(facts["total_scale"])),
            noisy_lengths=tuple(map(int, cast("list[int]", lengths))),
        )

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return "picked"

    @property
    def domain(self) -> SequenceDomain:
        """What the release ranges over."""
        return self.inner.domain

    def facts(self) -> Facts:
        """Return the inner model's facts, which strategy was picked, and why."""
        lengths = {"noisy_lengths": list(self.noisy_lengths)}
        return {
            **(lengths if self.noisy_lengths else {}),
            "kind": self.inner.kind,
            "model": self.inner.facts(),
            "strategy": self.strategy,
            "noisy_total": self.noisy_total,
            "total_scale": self.total_scale,
        }

    def tables(self) -> Mapping[str, Table]:
        """Return the inner model's tables."""
        return self.inner.tables()

    def paths(self) -> PathTree:
        """Return the inner model's tree."""
        return self.inner.paths()

    def occurrences(self, runs: Sequence[Run]) -> list[Estimate]:
        """Return the inner model's estimates."""
        return self.inner.occurrences(runs)
