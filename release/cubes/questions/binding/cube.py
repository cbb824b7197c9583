"""A published cube as its readers know it: public facts about what was counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from privacy.schema import Hierarchy
from query_lang.plans.compiled import QueryWarning
from release.contract.domain import CubeDomain
from release.cubes.questions.binding.views import View


@dataclass(frozen=True, slots=True)
class PublishedCube:
    """What a question to a release needs.

    Attributes:
        id: Of the release.
        name: As FROM names it.
        domain: The dimensions and D.
        counts: What a cell counts: units (each once a cell) or rows.
        unit: The population's word for its privacy unit.
        unit_column: The unit key's name, for COUNT(DISTINCT unit key).
        snapshot_date: CURRENT_DATE.
        views: Of dimensions that are levels, months or bands, by name.
        hierarchies: Own ones of the dataset.
        strategy: As the manifest names it.
        epsilon: That was paid, as text; or that the rho that was paid amounts to.
        rho: That was paid, where losses are rho.
        warnings: Of what was counted, such as rows that bounds left out.
    """

    id: str
    name: str
    domain: CubeDomain
    counts: Literal["units", "rows"]
    unit: str
    unit_column: str
    snapshot_date: date
    views: Mapping[str, View] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    strategy: str = "cells"
    epsilon: str = "0"
    rho: str | None = None
    warnings: tuple[QueryWarning, ...] = ()

    @property
    def paid(self) -> str:
        """What was paid, in words."""
        return f"epsilon {self.epsilon}" if self.rho is None else f"rho {self.rho}"

    @property
    def counted(self) -> str:
        """What a count is of: ``"rows"`` or the unit's word."""
        return "rows" if self.counts == "rows" else self.unit
