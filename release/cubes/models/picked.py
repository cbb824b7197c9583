"""What ``auto`` publishes: the model of the strategy that it picked, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from release.contract.domain import CubeDomain
from release.contract.models import (
    CubeModel,
    Estimates,
    FloatArray,
    PublicFacts,
    Roll,
    Table,
)
from release.contract.rebuilding import PICKED, Rebuilds, inner_model, picked_facts


@dataclass(frozen=True, slots=True)
class PickedModel:
    """Answers as the picked strategy's model does.

    Attributes:
        inner: That model.
        strategy: Which strategy was picked.
        parameters: That the rule gave it.
        noisy_total: What the rule read, as drawn.
        total_scale: Of its noise.
    """

    inner: CubeModel
    strategy: str
    parameters: Mapping[str, object]
    noisy_total: int
    total_scale: float

    @classmethod
    def rebuilt(
        cls,
        plain: Rebuilds[CubeDomain, CubeModel],
        domain: CubeDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "PickedModel":
        """Return the model that wrote these facts and tables.

        Args:
            plain: How each other kind of model is rebuilt.
            domain: What the cube ranges over.
            facts: As written.
            tables: As written.
        """
        return cls(
            inner=inner_model(plain, domain, facts, tables),
            strategy=str(facts["strategy"]),
            parameters=cast("Mapping[str, object]", facts["parameters"]),
            noisy_total=int(str(facts["noisy_total"])),
            total_scale=float(str(facts["total_scale"])),
        )

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return PICKED

    @property
    def domain(self) -> CubeDomain:
        """What the cube ranges over."""
        return self.inner.domain

    def facts(self) -> PublicFacts:
        """Return what was picked and from which noisy total, and its own facts."""
        return {
            **picked_facts(self.strategy, self.inner.kind, self.inner.facts()),
            "parameters": dict(self.parameters),
            "noisy_total": self.noisy_total,
            "total_scale": self.total_scale,
        }

    def tables(self) -> Mapping[str, Table]:
        """Return the inner model's tables."""
        return self.inner.tables()

    def estimates(self) -> FloatArray:
        """Return the inner model's estimates."""
        return self.inner.estimates()

    def roll(self, roll: Roll) -> Estimates:
        """Answer as the inner model does."""
        return self.inner.roll(roll)
