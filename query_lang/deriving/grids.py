"""What measured vectors count: regions cut into cells. Proof: docs/proofs/derived.md.

Of vectors whose numbers add up alone: counts of rows and of values, sums, and counts of
units where what tells cells apart is constant within a unit.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Final

from privacy.schema import Scalar
from query_lang.deriving.regions import (
    Operand,
    Part,
    anything,
    one_part,
    region_of,
    restricting,
)
from query_lang.normalising.comparisons import compared
from query_lang.normalising.questions import Counted, counted
from query_lang.normalising.relations import Relation, RelationReader
from query_lang.normalising.steps import TooManyStepsError, counted_steps
from query_lang.normalising.terms import Term, constant, read_as
from query_lang.plans.expressions import Function
from query_lang.plans.nodes import Aggregate, Key

MOST_VALUES: Final = 4_096
"""Of all keys of a question together; one with more is not looked at."""

_ADD_UP: Final = frozenset({"count", "sum", "count_units"})


@dataclass(frozen=True, slots=True)
class Axis:
    """A key: the part of its operand that each of its values is, in declared order."""

    operand: str
    parts: tuple[Part, ...]
    constant: bool


@dataclass(frozen=True)
class Grid:
    """A vector whose cells are regions of the rows of one relation.

    Attributes:
        rows: Digest of the sources that the rows are of.
        what: What is taken of each row: equal for what may be added up.
        by_unit: Whether units are counted, each once, and not rows.
        axes: Of the keys, in the question's order; the first varies slowest.
        base: What is asked of every other operand.
        constants: The operands in it that are constant within a unit.
    """

    rows: str
    what: str
    by_unit: bool
    axes: tuple[Axis, ...]
    base: Mapping[str, Part]
    constants: frozenset[str]

    @cached_property
    def size(self) -> int:
        """How many cells it has."""
        return prod(len(axis.parts) for axis in self.axes)

    def is_constant(self, operand: str) -> bool:
        """Whether an operand is known to be constant within a unit."""
        return operand in self.constants


def grids_of(plan: Aggregate) -> list[Grid | None]:
    """Return what each measure of a plan counts, None where nothing can be said.

    Args:
        plan: As it is measured.
    """
    nothing: list[Grid | None] = [None] * len(plan.measures)
    if sum(len(key.values) for key in plan.keys) > MOST_VALUES:
        return nothing
    try:
        with counted_steps():
            return _grids(plan) or nothing
    except TooManyStepsError:
        return nothing


def _grids(plan: Aggregate) -> list[Grid | None]:
    reader = RelationReader()
    rows = reader.read(plan.child)
    axes = _axes(plan.keys, rows, reader)
    if axes is None:
        return []
    sources = json.dumps(rows.sources)
    return [
        _grid(counted(plan, measure, reader, rows), axes, sources)
        for measure in plan.measures
    ]


def _grid(found: Counted, axes: Sequence[Axis], sources: str) -> Grid | None:
    kind = found.kind
    region = region_of(found.rows)
    if region is None or not isinstance(kind, list) or kind[0] not in _ADD_UP:
        return None
    asked = {operand.name: part for operand, part in region.items()}
    cut = tuple(_cut(axis, asked) for axis in axes)
    keys = {axis.operand for axis in axes}
    held = {operand.name for operand in region if operand.constant}
    held |= {axis.operand for axis in axes if axis.constant}
    return Grid(
        rows=sources,
        what=json.dumps(kind),
        by_unit=kind[0] == "count_units",
        axes=cut,
        base=restricting((n, part) for n, part in asked.items() if n not in keys),
        constants=frozenset(held),
    )


def _cut(axis: Axis, region: Mapping[str, Part]) -> Axis:
    """Return an axis whose cells hold only what a region lets through."""
    asked = region.get(axis.operand)
    if asked is None:
        return axis
    return replace(axis, parts=tuple(part.met(asked) for part in axis.parts))


def _axes(
    keys: Sequence[Key], rows: Relation, reader: RelationReader
) -> list[Axis] | None:
    """Return the keys' axes; None unless each is of one operand, and of its own."""
    found = [_axis(key, rows.columns[key.slot], reader) for key in keys]
    axes = [axis for axis in found if axis is not None]
    operands = {axis.operand for axis in axes}
    return axes if len(axes) == len(operands) == len(keys) else None


def _axis(key: Key, value: Term, reader: RelationReader) -> Axis | None:
    if value.head in {"column", "matched"}:
        value = read_as(value, key.facts)
    found = [_cell(value, each, key, reader) for each in key.values]
    known = [one for one in found if one is not None]
    if not known or any(operand != known[0][0] for operand, _ in known):
        return None
    operand, some = known[0]
    nothing = some.whole().rest()
    parts = tuple(nothing if one is None else one[1] for one in found)
    return Axis(operand.name, parts, operand.constant)


def _cell(
    value: Term, cell: Scalar | None, key: Key, reader: RelationReader
) -> tuple[Operand, Part] | None:
    """Return ``key = cell`` as a part of one operand; None where no row has it."""
    conditions = reader.conditions
    if cell is None:
        condition = conditions.is_null(value)
    else:
        literal = constant(cell, replace(key.facts, nullable=False))
        condition = compared(Function.EQ, value, literal, conditions)
    region = region_of(conditions.holding(condition))
    if region is None:
        return None
    if not region:
        return anything(condition)
    if len(region) > 1:
        return one_part(condition)
    ((operand, part),) = region.items()
    return operand, part
