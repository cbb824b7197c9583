"""What an engine's SQL is to the rest of the language: three ways to write a plan.

Compiling is told the dialect; nothing else of the language names one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from privacy.schema import Hierarchy
from query_lang.plans.costs import UNLIMITED, CostLimits
from query_lang.plans.dimensions import CubeDimension
from query_lang.plans.nodes import Aggregate
from query_lang.plans.rendered import RenderedPlan
from query_lang.plans.sequences import UnitSequences
from query_lang.rendering.fragments import Fragment
from query_lang.syntax.nodes import Position

Hierarchies = Mapping[str, Hierarchy]
"""A dataset's own, by name."""


class Dialect(Protocol):
    """Writes plans as statements of catalogue identifiers and bound parameters.

    Each method takes the dataset's own hierarchies, and where the query begins.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``, from each.
    """

    def query(
        self, plan: Aggregate, own: Hierarchies, position: Position
    ) -> RenderedPlan:
        """Return what an engine runs for a query, and the cells that its rows fill."""
        ...

    def cube(self, plan: Aggregate, own: Hierarchies, position: Position) -> Fragment:
        """Return one statement with a cube's keys and its measure, a row a group."""
        ...

    def sequences(
        self,
        made: UnitSequences,
        dimensions: tuple[CubeDimension, CubeDimension | None],
        own: Hierarchies,
        position: Position,
    ) -> Fragment:
        """Return one statement: the group's code, the sequence, its phase, how many.

        Args:
            made: What is rendered.
            dimensions: The alphabet, and the split.
            own: The dataset's own hierarchies.
            position: Where FROM begins.
        """
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """What plans are compiled for.

    Attributes:
        dialect: Of the engine that will run them.
        limits: What running one may cost.
    """

    dialect: Dialect
    limits: CostLimits = UNLIMITED
