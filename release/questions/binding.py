"""A parsed text to a question of a cube, by the language's own binder.

The release stands in a schema of its own as a table whose columns are its dimensions.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import date
from typing import Final, TypeVar

from privacy.contributions import NO_BOUNDS
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    Domain,
    HierarchyDomain,
    RangeDomain,
    Scalar,
    Table,
    ValuesDomain,
)
from query_lang import hierarchies
from query_lang.bind import bind_query
from query_lang.compile import output_columns
from query_lang.plan import Scan
from query_lang.refusals import refuse
from query_lang.syntax import FunctionCall, Name, Query, StringLiteral
from release.domain import Dimension
from release.questions import rules
from release.questions.cube import LevelOf, PublishedCube
from release.questions.question import AxisSlot, CubeQuestion, peel, require_plain

_CODE: Final = "#code"  # in no name that can be written
_Turn = Callable[[FunctionCall], FunctionCall]
T = TypeVar("T")


def bind_cube_question(tree: Query, cube: PublishedCube) -> CubeQuestion:
    """Return the question that a text asks of a release.

    Raises:
        QueryError: A name, type or form breaks a rule of the language, or one of
            ``release.questions.rules``.
    """
    tree, coded = _with_codes(tree, cube)
    dataset = _schema(cube, coded)
    bound = bind_query(tree, dataset, NO_BOUNDS)
    plan, position = bound.plan, tree.select.position
    peeled = peel(plan)
    if not isinstance(peeled.source, Scan):
        raise refuse(rules.ONE_RELEASE, position)
    for expression in (*peeled.conditions, *peeled.computed.values()):
        require_plain(expression, position)
    return CubeQuestion(
        slots=_slots(peeled.source, cube, coded),
        conditions=peeled.conditions,
        keys=plan.keys,
        computed=peeled.computed,
        measures=plan.measures,
        columns=output_columns(plan, cube.unit),
        presentation=plan.presentation,
        warnings=bound.warnings,
        position=position,
    )


def _schema(cube: PublishedCube, coded: Mapping[str, LevelOf]) -> Dataset:
    """Return a schema of the release alone; one row a unit, so nothing is bounded."""
    columns = [_column(dimension) for dimension in cube.model.domain.dimensions]
    codes = [
        Column(name + _CODE, ColumnType.TEXT, domain=HierarchyDomain(level.hierarchy))
        for name, level in coded.items()
    ]
    unit = Column(cube.unit_column, ColumnType.TEXT, nullable=False)
    table = Table(
        cube.name,
        (*columns, *codes, unit),
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


def _slots(
    scan: Scan, cube: PublishedCube, coded: Mapping[str, LevelOf]
) -> dict[int, AxisSlot]:
    dimensions = cube.model.domain.dimensions
    axes = {dimension.name: axis for axis, dimension in enumerate(dimensions)}
    found: dict[int, AxisSlot] = {}
    for number, column in enumerate(scan.table.columns):
        slot, name = scan.first_slot + number, column.name
        if name in axes:
            values = dimensions[axes[name]].values
            found[slot] = AxisSlot(name, axes[name], values, column.type, column.scale)
        elif name.endswith(_CODE):
            axis = axes[name.removesuffix(_CODE)]
            codes = _codes(dimensions[axis], coded[dimensions[axis].name], cube)
            found[slot] = AxisSlot(name, axis, codes, ColumnType.TEXT)
    return found


# -- levels of hierarchies -----------------------------------------------------


def _with_codes(tree: Query, cube: PublishedCube) -> tuple[Query, dict[str, LevelOf]]:
    """Let a wider level of a dimension be asked for as if codes were there.

    ``icd_chapter(block)`` reads one code of each block: all have the same chapter.
    """
    used: dict[str, LevelOf] = {}

    def turned(call: FunctionCall) -> FunctionCall:
        wanted, dimension = _level_asked(call)
        level = cube.levels.get(dimension)
        if wanted is None or level is None:
            return call
        domain, own = HierarchyDomain(level.hierarchy), cube.hierarchies
        known = hierarchies.levels_of(domain, own)
        if wanted in known and not hierarchies.level_follows(
            domain, wanted, level.level, own
        ):
            raise refuse(
                rules.FINER_LEVEL,
                call.position,
                detail=f"{dimension} holds the level {level.level}",
            )
        used[dimension] = level
        name = Name(dimension + _CODE, None, call.position)
        return replace(call, arguments=(name, *call.arguments[1:]))

    return (_mapped(tree, turned), used) if cube.levels else (tree, used)


def _level_asked(call: FunctionCall) -> tuple[str | None, str]:
    """Return the level that a call asks for, and of which column."""
    first = call.arguments[0] if call.arguments else None
    column = first.name if isinstance(first, Name) else ""
    if call.name == "level":
        second = call.arguments[1] if len(call.arguments) > 1 else None
        return (second.text if isinstance(second, StringLiteral) else None), column
    if call.name in {"icd_chapter", "icd_block", "icd_category"}:
        return call.name.removeprefix("icd_"), column
    return None, column


def _mapped(node: T, turned: _Turn) -> T:
    """Return a tree with its function calls turned, from the leaves up."""
    if isinstance(node, tuple):
        return tuple(_mapped(item, turned) for item in node)  # type: ignore[return-value]
    if not is_dataclass(node) or isinstance(node, type):
        return node
    made = {f.name: _mapped(getattr(node, f.name), turned) for f in fields(node)}
    built = replace(node, **made)
    return turned(built) if isinstance(built, FunctionCall) else built  # type: ignore[return-value]


def _codes(
    dimension: Dimension, level: LevelOf, cube: PublishedCube
) -> tuple[str | None, ...]:
    """Return for each value of a level one code that lies in it."""
    domain = HierarchyDomain(level.hierarchy)
    found = hierarchies.code_of_level(domain, level.level, cube.hierarchies)
    return tuple(
        found.get(value) if isinstance(value, str) else None
        for value in dimension.values
    )
