"""From a compiled cube to what strategies know of it."""

from query_lang.cubes import CubePlan
from release.domain import CubeDomain, Dimension


def domain_of(plan: CubePlan) -> CubeDomain:
    """Return the public domain of a cube; its bound is the language's sensitivity.

    Neighbouring relation: add or remove all rows of one unit.
    """
    return CubeDomain(
        dimensions=tuple(
            Dimension(
                name=dimension.name,
                type=dimension.type,
                values=dimension.values,
                ordered=dimension.ordered,
                constant=dimension.constant,
                scale=dimension.scale,
            )
            for dimension in plan.dimensions
        ),
        bound=plan.l1_sensitivity,
    )
