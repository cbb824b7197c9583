"""A cube: all cells over public dimensions, bound by the rules of the language.

It is the query ``SELECT dimensions, COUNT(...) FROM ... WHERE ... GROUP BY dimensions``
without the limit on an answer's cells, which are never listed one by one. So
stability, constancy, domains and sensitivity come from the rules that queries have
(docs/proofs/count.md, count_distinct.md, constancy.md).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Final

from privacy.contributions import NO_BOUNDS, ContributionBounds
from privacy.schema import ColumnType, Dataset, Scalar
from query_lang.binding.bind import bound_warnings, bounded, check_bounds
from query_lang.binding.environment import Environment
from query_lang.binding.expressions import ExpressionBinder
from query_lang.binding.queries import QueryBinder
from query_lang.confining.touched import touched_blocks
from query_lang.costs.checks import CostCheck
from query_lang.costs.plans import aggregate_costs
from query_lang.plans.canonical import canonical_text
from query_lang.plans.compiled import KeyShown, NumberShown, Presentation, QueryWarning
from query_lang.plans.costs import PlanCost
from query_lang.plans.dimensions import CubeDimension
from query_lang.plans.domains import key_values, stored_value
from query_lang.plans.expressions import Expression, Facts, FieldRef
from query_lang.plans.nodes import (
    Aggregate,
    Compute,
    CountRowsMeasure,
    CountUnitsMeasure,
    Key,
    MeasureKind,
    Node,
    PlanColumn,
    PublicJoin,
    Scan,
    Union,
    UnitJoin,
)
from query_lang.plans.sensitivity import measure_sensitivity
from query_lang.plans.stability import check_rows
from query_lang.reading.source_texts import read_source
from query_lang.rendering.dialect import Target
from query_lang.showing.derivation import derive
from query_lang.specs.axes import Axis, AxisRefusedError, ResolvedAxis, bind_axis
from query_lang.syntax.nodes import Position

MAX_CUBE_CELLS: Final = 10**12
MAX_DIMENSIONS: Final = 16
_UNIT_KEY: Final = "unit_key"
_COUNT = Facts(ColumnType.INTEGER, nullable=False)


@dataclass(frozen=True, slots=True)
class CubeRequest:
    """What a cube counts, in the words of the language.

    Attributes:
        source: The text of FROM: a table, joins, a derived table.
        axes: The dimensions; the first varies slowest.
        counts_units: Whether a cell counts units; else rows.
        where: The text of WHERE, or None.
        bounds: Lower contribution bounds than the declared ones.
    """

    source: str
    axes: tuple[Axis, ...]
    counts_units: bool
    where: str | None = None
    bounds: ContributionBounds = NO_BOUNDS


@dataclass(frozen=True, slots=True)
class CubeStatement:
    """One SQL text whose rows hold the stored value of each dimension and a count.

    Attributes:
        sql: Identifiers of the catalogue only; every literal a ``?``.
        parameters: Values of the ``?``, in order.
        keys: For each dimension, its stored values in declared order.
    """

    sql: str
    parameters: tuple[Scalar, ...]
    keys: tuple[tuple[Scalar | None, ...], ...]


@dataclass(frozen=True, slots=True)
class CubePlan:
    """A whole cube, ready to be priced and counted.

    Attributes:
        statement: What the engine runs.
        dimensions: In the order asked for.
        l1_sensitivity: D, how far one unit moves the vector of all cells; under add or
            remove all rows of one unit.
        canonical: Text that is equal for equal plans.
        derivation: Why D is what it is, in words.
        warnings: What the custodian may not have meant.
        cost: What counting its cells takes at most.
        blocks: Whose units it can touch; empty where the population has none.
    """

    statement: CubeStatement
    dimensions: tuple[CubeDimension, ...]
    l1_sensitivity: int
    canonical: str
    derivation: str
    warnings: tuple[QueryWarning, ...]
    cost: PlanCost
    blocks: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many cells there are."""
        return prod(len(dimension.values) for dimension in self.dimensions)


@dataclass(frozen=True, slots=True)
class ResolvedCube:
    """A cube as a plan of the language: what it counts, by which keys.

    Attributes:
        plan: Its keys are the dimensions, in their order.
        axes: The dimensions as they were asked for.
        position: Where the text begins.
        warnings: What the custodian may not have meant.
    """

    plan: Aggregate
    axes: tuple[ResolvedAxis, ...]
    position: Position
    warnings: tuple[QueryWarning, ...]

    @property
    def dimensions(self) -> tuple[CubeDimension, ...]:
        """The dimensions with their values, in the order asked for."""
        return tuple(map(dimension_of, self.axes))

    @property
    def l1_sensitivity(self) -> int:
        """D, how far one unit moves the vector of all cells."""
        return int(measure_sensitivity(self.plan, self.plan.measures[0]).l1)

    @property
    def unit_column(self) -> str:
        """What questions to the cube call the unit key."""
        return _unit_column(self.plan.child)


def bind_cube(request: CubeRequest, dataset: Dataset) -> ResolvedCube:
    """Bind a cube against a public schema; touches no data.

    Raises:
        QueryError: FROM, WHERE or a dimension breaks a rule of the language.
        AxisRefusedError: A dimension has no public values, two have one name, or there
            are more than 10^12 cells or 16 dimensions.
        InvalidOptionError: A bound does not fit.
    """
    tree = read_source(request.source, request.where)
    environment = Environment(dataset, check_bounds(request.bounds, dataset))
    queries = QueryBinder()
    node, scope = queries.filtered(tree.select, environment)
    check_rows(node.rows_per_unit, tree.select.position)
    rows = ExpressionBinder(scope, environment, queries)
    axes = tuple(
        bind_axis(axis, place, rows) for place, axis in enumerate(request.axes)
    )
    _check_axes(axes)
    plan = _plan(node, axes, request, environment)
    warnings = (*environment.warnings, *bound_warnings(plan, environment))
    return ResolvedCube(plan, axes, tree.select.position, warnings)


def compile_cube(
    request: CubeRequest,
    dataset: Dataset,
    target: Target,
) -> CubePlan:
    """Compile a cube against a public schema; touches no data.

    Args:
        request: What is counted.
        dataset: The public schema.
        target: Which engine will count it, and what that may cost.

    Raises:
        QueryError: As ``bind_cube``; or counting it passes the limits.
        AxisRefusedError: As ``bind_cube``; or a dimension is called as the unit key.
        InvalidOptionError: As ``bind_cube``.
    """
    bound = bind_cube(request, dataset)
    _check_names(bound)
    plan = bound.plan
    text = target.dialect.cube(plan, dataset.hierarchies, bound.position)
    statement = CubeStatement(text.sql, text.parameters, _stored_keys(plan))
    cost = CostCheck(target.limits, dataset).check(
        lambda tables: aggregate_costs(plan, dataset, [statement.sql], tables),
        bound.position,
    )
    return CubePlan(
        statement=statement,
        dimensions=bound.dimensions,
        l1_sensitivity=bound.l1_sensitivity,
        canonical=canonical_text(plan, [Fraction(1)]),
        derivation=derive(plan, dataset.unit),
        warnings=bound.warnings,
        cost=cost,
        blocks=touched_blocks(plan.child, dataset),
    )


def _check_axes(axes: tuple[ResolvedAxis, ...]) -> None:
    if not 1 <= len(axes) <= MAX_DIMENSIONS:
        message = f"a cube has 1 to {MAX_DIMENSIONS} dimensions"
        raise AxisRefusedError(None, message)
    for place, axis in enumerate(axes):
        if axis.name in {other.name for other in axes[:place]}:
            message = f"another dimension is called {axis.name} already"
            raise AxisRefusedError(place, message)
        if axis.expression in [other.expression for other in axes[:place]]:
            raise AxisRefusedError(place, "this dimension is asked for twice")
    size = prod(axis.size for axis in axes)
    if size > MAX_CUBE_CELLS:
        message = f"{size} cells are more than 10^12: take coarser dimensions"
        raise AxisRefusedError(None, message)


def _check_names(bound: ResolvedCube) -> None:
    """Refuse a dimension that questions could never name.

    Not in ``bind_cube``: what was published before is still read.
    """
    for place, axis in enumerate(bound.axes):
        if axis.name == bound.unit_column:
            message = (
                f"questions to the cube call the unit key {axis.name}: give this "
                f"dimension another name, as in name: {axis.name}_value"
            )
            raise AxisRefusedError(place, message)


def _unit_column(node: Node) -> str:
    """Return what the unit key is called where the rows come from."""
    match node:
        case Scan(table):
            return table.unit_column or _UNIT_KEY
        case UnitJoin(left) | PublicJoin(left):
            return _unit_column(left)
        case Union(parts):
            return _unit_column(parts[0].node)
        case _:
            return _unit_column(node.child)


def _plan(
    node: Node,
    axes: tuple[ResolvedAxis, ...],
    request: CubeRequest,
    environment: Environment,
) -> Aggregate:
    owner = node.owner
    slots: dict[Expression, int] = {}
    keys = []
    for axis in axes:
        value = axis.expression
        slot = value.slot if isinstance(value, FieldRef) else environment.new_slot()
        slots[value] = slot
        keys.append(Key(slot, axis.name, value.facts, key_values(value.facts)))
    made = tuple((s, v) for v, s in slots.items() if not isinstance(v, FieldRef))
    if made:
        node = Compute(node, made)
    node = bounded(node, tuple(key.slot for key in keys), request.bounds)
    measure: MeasureKind = CountRowsMeasure()
    if request.counts_units:
        measure = CountUnitsMeasure(owner, nullable=False)
    columns = [
        PlanColumn(key.name, KeyShown(index), key.facts, "")
        for index, key in enumerate(keys)
    ]
    columns.append(PlanColumn("count", NumberShown(0), _COUNT, "count"))
    return Aggregate(node, tuple(keys), (measure,), tuple(columns), Presentation())


def _stored_keys(plan: Aggregate) -> tuple[tuple[Scalar | None, ...], ...]:
    return tuple(
        tuple(stored_value(value, key.facts) for value in key.values)
        for key in plan.keys
    )


def dimension_of(axis: ResolvedAxis) -> CubeDimension:
    """Return a bound axis with its values, as they are shown and as they are stored."""
    facts = axis.expression.facts
    values = key_values(facts)
    return CubeDimension(
        name=axis.name,
        type=ColumnType.TEXT if axis.labels else facts.type,
        values=axis.shown(values),
        stored=tuple(stored_value(value, facts) for value in values),
        ordered=axis.ordered,
        constant=facts.constant,
        scale=facts.scale if facts.type is ColumnType.DECIMAL else 0,
        expression=axis.text,
    )
