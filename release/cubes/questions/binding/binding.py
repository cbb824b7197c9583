"""A parsed text to a question of a cube, by the language's own binder.

The release stands in a schema of its own as a table whose columns are its dimensions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from functools import cache
from operator import is_
from typing import Final, Literal, TypeVar, get_origin, get_type_hints

from privacy.contributions import NO_BOUNDS
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    Domain,
    RangeDomain,
    Scalar,
    Table,
    ValuesDomain,
)
from query_lang.binding.bind import bind_query
from query_lang.compile import output_columns
from query_lang.plans.expressions import Call, Constant, FieldRef, Function
from query_lang.plans.expressions import Expression as Plan
from query_lang.plans.nodes import Scan
from query_lang.syntax.nodes import (
    Expression,
    Extract,
    FunctionCall,
    Name,
    NumberLiteral,
    Position,
    Query,
    StringLiteral,
)
from query_lang.syntax.refusals import refuse, refusing_depth
from release.contract.answers import ONE_RELEASE, no_totals
from release.contract.domain import Dimension
from release.cubes.questions.binding import rules
from release.cubes.questions.binding.absent_values import refuse_absent_values
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.orders import order_warnings
from release.cubes.questions.binding.question import (
    AxisSlot,
    CubeQuestion,
    require_plain,
    take_apart,
)

_MEMBER: Final = "#member"  # in no name that can be written
_Call = FunctionCall | Extract
_PLAIN: Final = frozenset({str, int, bool, Position})
T = TypeVar("T")


class CubeBinder:
    """Binds texts over one release; safe for many threads."""

    def __init__(self, cube: PublishedCube) -> None:
        self._cube = cube
        self._schemas: dict[frozenset[str], Dataset] = {}

    def bind(self, tree: Query) -> CubeQuestion:
        """Return the question that a text asks of the release.

        Raises:
            QueryError: A name, type or form breaks a rule of the language, or one of
                ``release.cubes.questions.binding.rules``.
        """
        cube = self._cube
        tree, viewed = _with_members(tree, cube)
        if viewed not in self._schemas:
            self._schemas[viewed] = _schema(cube, viewed)
        dataset = self._schemas[viewed]
        position = tree.select.position
        with refusing_depth(position):
            bound = bind_query(tree, dataset, NO_BOUNDS)
        plan = bound.plan
        if plan.presentation.sets:
            raise no_totals(position)
        parts = take_apart(plan)
        if not isinstance(parts.source, Scan):
            raise refuse(ONE_RELEASE, position)
        written = (*parts.conditions, *parts.computed.values())
        for expression in written:
            require_plain(expression, position)
        slots = _slots(parts.source, cube)
        refuse_absent_values(written, slots, tree)
        orders = order_warnings(written, slots, cube.domain.dimensions)
        return CubeQuestion(
            slots=slots,
            conditions=parts.conditions,
            keys=plan.keys,
            computed={
                slot: _as_present(expression, parts.source.owner)
                for slot, expression in parts.computed.items()
            },
            measures=plan.measures,
            columns=output_columns(plan, cube.unit),
            presentation=plan.presentation,
            warnings=(*bound.warnings, *orders),
            position=position,
            tree=tree,
        )


def _as_present(expression: Plan, owner: int) -> Plan:
    """Return a counted unit key as a value that is there: no dimension holds it."""
    match expression:
        case FieldRef(slot, facts) if slot == owner:
            return Constant(1, facts)
        case Call(_, operands):
            kept = tuple(_as_present(operand, owner) for operand in operands)
            return replace(expression, operands=kept)
        case _:
            return expression


def _schema(cube: PublishedCube, viewed: frozenset[str]) -> Dataset:
    """Return a schema of the release alone; one row a unit, so nothing is bounded."""
    columns = [_column(dimension) for dimension in cube.domain.dimensions]
    dimensions = cube.domain.dimensions
    members = [_member_column(d, cube) for d in dimensions if d.name in viewed]
    unit = Column(cube.unit_column, ColumnType.TEXT, nullable=False)
    table = Table(
        cube.name,
        (*columns, *members, unit),
        unit_column=cube.unit_column,
        max_rows_per_unit=1,
    )
    return Dataset(
        cube.name,
        cube.name,
        cube.unit,
        cube.snapshot_date,
        {cube.name: table},
        cube.hierarchies,
    )


def _column(dimension: Dimension) -> Column:
    return Column(
        dimension.name,
        dimension.type,
        scale=dimension.scale,
        nullable=None in dimension.values,
        constant_in_unit=dimension.constant,
        domain=_domain(dimension),
    )


def _member_column(dimension: Dimension, cube: PublishedCube) -> Column:
    view = cube.views[dimension.name]
    members = view.members(dimension.values, cube.hierarchies)
    return Column(
        dimension.name + _MEMBER,
        view.type,
        nullable=None in members,
        constant_in_unit=dimension.constant,
        domain=view.domain(members),
    )


def _domain(dimension: Dimension) -> Domain | None:
    """Return the declared values; a run of numbers or days as its ends."""
    values = tuple(value for value in dimension.values if value is not None)
    if dimension.type is ColumnType.BOOLEAN:
        return None
    if values and _is_run(values):
        return RangeDomain(values[0], values[-1])
    return ValuesDomain(values)


def _is_run(values: tuple[Scalar, ...]) -> bool:
    places = [_place(value) for value in values]
    return None not in places and places == list(
        range(places[0] or 0, (places[0] or 0) + len(places))
    )


def _place(value: Scalar) -> int | None:
    if isinstance(value, bool):
        return None
    if type(value) is date:
        return value.toordinal()
    return value if isinstance(value, int) else None


def _slots(scan: Scan, cube: PublishedCube) -> dict[int, AxisSlot]:
    dimensions = cube.domain.dimensions
    axes = {dimension.name: axis for axis, dimension in enumerate(dimensions)}
    found: dict[int, AxisSlot] = {}
    for number, column in enumerate(scan.table.columns):
        name, _, member = column.name.partition("#")
        if name in axes:
            axis = axes[name]
            values = dimensions[axis].values
            if member:
                values = cube.views[name].members(values, cube.hierarchies)
            slot = AxisSlot(column.name, axis, values, column.type, column.scale)
            found[scan.first_slot + number] = slot
    return found


# -- wider views ---------------------------------------------------------------


def _with_members(tree: Query, cube: PublishedCube) -> tuple[Query, frozenset[str]]:
    """Let functions be asked of dimensions as if members of their values were there.

    ``icd_chapter(block)`` reads one code of each block: all have the same chapter.
    """
    used: set[str] = set()

    def turned(call: _Call) -> _Call:
        asked = _asked_function(call)
        view = cube.views.get(asked.dimension) if asked else None
        if asked is None or view is None:
            return call
        if not view.allows(asked.function, asked.parameters, cube.hierarchies):
            raise refuse(
                rules.FINER_VALUES,
                call.position,
                detail=f"{asked.dimension} holds {view.words}: what is asked of it "
                "does not follow from them",
            )
        used.add(asked.dimension)
        name = Name(asked.dimension + _MEMBER, None, call.position)
        if isinstance(call, Extract):
            return replace(call, value=name)
        return replace(call, arguments=(name, *call.arguments[1:]))

    found = _mapped(tree, turned) if cube.views else tree
    return found, frozenset(used)


@dataclass(frozen=True, slots=True)
class _AskedFunction:
    """A function that is asked of a dimension."""

    dimension: str
    function: Function
    parameters: tuple[Scalar, ...]


def _asked_function(call: _Call) -> _AskedFunction | None:
    """Return what a call asks of which dimension, if it is such a call."""
    if isinstance(call, Extract):
        return _function_of_dimension(call.value, (Function.EXTRACT, call.part))
    if not call.arguments:
        return None
    first, *others = call.arguments
    return _function_of_dimension(first, _cube_function(call.name, others))


def _function_of_dimension(
    first: Expression, asked: tuple[Function, str | int] | None
) -> _AskedFunction | None:
    if asked is None or not isinstance(first, Name):
        return None
    return _AskedFunction(first.name, asked[0], (asked[1],))


def _cube_function(
    name: str, others: Sequence[Expression]
) -> tuple[Function, str | int] | None:
    match name, others:
        case "icd_chapter" | "icd_block" | "icd_category", []:
            return Function.LEVEL, name.removeprefix("icd_")
        case "level", [StringLiteral(text)]:
            return Function.LEVEL, text
        case "age_band", [NumberLiteral(text)] if text.isdigit() and len(text) < 10:  # noqa: PLR2004 - wider than any band
            return Function.AGE_BAND, int(text)
        case _:
            return None


def _mapped(node: T, turned: Callable[[_Call], _Call]) -> T:
    """Return a tree with its function calls turned, from the leaves up."""
    if isinstance(node, tuple):
        items = tuple([_mapped(item, turned) for item in node])
        same = all(map(is_, items, node))
        return node if same else items  # type: ignore[return-value]
    made: dict[str, object] = {}
    kind: type = type(node)
    for name in _inner(kind):
        own = getattr(node, name)
        if (found := _mapped(own, turned)) is not own:
            made[name] = found
    built = replace(node, **made) if made else node  # type: ignore[type-var]
    if isinstance(built, FunctionCall | Extract):
        return turned(built)  # type: ignore[return-value]
    return built


@cache
def _inner(kind: type) -> tuple[str, ...]:
    """Return the fields of a class of nodes that may hold other nodes."""
    if not is_dataclass(kind):
        return ()
    hints = get_type_hints(kind)
    return tuple(
        field.name
        for field in fields(kind)
        if hints[field.name] not in _PLAIN and get_origin(hints[field.name]) != Literal
    )
