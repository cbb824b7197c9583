"""What an engine's SQL is to the rest of the language: three ways to write a plan.

Compiling is told the dialect; nothing else of the language names one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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

Dimensions = tuple[CubeDimension, CubeDimension | None]
"""The alphabet, and the split."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Writes plans as statements of catalogue identifiers and bound parameters.

    Each takes the dataset's own hierarchies, and where the query begins, and raises
    ``SqlNotAllowedError`` of the rule ``too_complex``.

    Attributes:
        query: Gives what an engine runs for a query, and the cells that its rows fill.
        cube: Gives one statement with a cube's keys and its measure, a row a group.
        sequences: Gives one statement of units' sequences, their alphabet and split:
            the group's code, the sequence, its phase, and how many.
    """

    query: Callable[[Aggregate, Hierarchies, Position], RenderedPlan]
    cube: Callable[[Aggregate, Hierarchies, Position], Fragment]
    sequences: Callable[[UnitSequences, Dimensions, Hierarchies, Position], Fragment]


@dataclass(frozen=True, slots=True)
class Target:
    """What plans are compiled for.

    Attributes:
        dialect: Of the engine that will run them.
        limits: What running one may cost.
    """

    dialect: Dialect
    limits: CostLimits = UNLIMITED
