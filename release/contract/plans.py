"""From a compiled plan to what strategies know of it."""

from query_lang.plans.dimensions import CubeDimension
from query_lang.specs.cubes import CubePlan, ResolvedCube
from query_lang.specs.sequences import SequencePlan
from release.contract.domain import CubeDomain, Dimension
from release.contract.sequence_domain import SequenceDomain


def domain_of(plan: CubePlan | ResolvedCube, *, counts_units: bool) -> CubeDomain:
    """Return the public domain of a cube; its bound is the language's sensitivity.

    Args:
        plan: The cube.
        counts_units: Whether a cell counts units, each once; else rows.

    Neighbouring relation: add or remove all rows of one unit.
    """
    return CubeDomain(
        dimensions=tuple(map(_dimension, plan.dimensions)),
        bound=plan.l1_sensitivity,
        in_cell=1 if counts_units else None,
    )


def sequences_of(plan: SequencePlan) -> SequenceDomain:
    """Return the public domain of sequences.

    Neighbouring relation: add or remove all rows of one unit.
    """
    return SequenceDomain(
        alphabet=_dimension(plan.alphabet),
        max_length=plan.max_length,
        split=None if plan.split is None else _dimension(plan.split),
    )


def _dimension(dimension: CubeDimension) -> Dimension:
    return Dimension(
        name=dimension.name,
        type=dimension.type,
        values=dimension.values,
        ordered=dimension.ordered,
        constant=dimension.constant,
        scale=dimension.scale,
    )
