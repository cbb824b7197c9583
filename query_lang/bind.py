"""A parsed query and a public schema to a private plan."""

from dataclasses import dataclass

from privacy.contributions import ContributionBounds
from privacy.errors import InvalidOptionError
from privacy.schema import Dataset
from query_lang.bind_conditions import ConditionBinder
from query_lang.bind_outputs import OutputBinder
from query_lang.compiled import QueryWarning
from query_lang.plan import (
    Aggregate,
    BoundContributions,
    Filter,
    Node,
    Scan,
    scan_of,
)
from query_lang.predicates import ColumnRef
from query_lang.refusals import refuse
from query_lang.rules import ROW_BOUND_NEEDED
from query_lang.scope import Scope, open_scope
from query_lang.syntax import Position, Select


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A plan and what goes with it.

    Attributes:
        plan: What is measured.
        key_positions: Where GROUP BY names each key, for refusals.
        warnings: What the analyst may not have meant.
    """

    plan: Aggregate
    key_positions: tuple[Position, ...]
    warnings: tuple[QueryWarning, ...]


def bind_query(
    tree: Select, dataset: Dataset, bounds: ContributionBounds
) -> BoundQuery:
    """Return the plan of a query under the bounds that a request asks for.

    Raises:
        QueryError: A name, type or form breaks a rule of the language.
        InvalidOptionError: A bound is not positive, or names no private table.
    """
    asked = check_bounds(bounds, dataset)
    scope = open_scope(tree.source, dataset)
    conditions, outputs = ConditionBinder(scope), OutputBinder(scope)
    node: Node = _scan(scope, asked.get(scope.table.name), tree.source.position)
    if tree.where is not None:
        node = Filter(node, conditions.bind(tree.where))
    top = outputs.bind(tree)
    node = _bounded(node, top.keys, bounds)
    plan = Aggregate(node, top.keys, top.measures, top.columns)
    warnings = (*conditions.warnings, *_bound_warnings(plan, dataset.unit))
    return BoundQuery(plan, top.key_positions, warnings)


def check_bounds(bounds: ContributionBounds, dataset: Dataset) -> dict[str, int]:
    """Return the bounds on tables, if all that is asked for can be bounded.

    Raises:
        InvalidOptionError: A table is unknown or public, or a bound is not positive.
    """
    for name, most in bounds.tables:
        table = dataset.tables.get(name)
        if table is None or table.is_public:
            message = "bounds.tables names private tables of the dataset only"
            raise InvalidOptionError(message)
        _check_positive(f"bounds.tables.{name}", most)
    _check_positive("bounds.max_rows_per_unit", bounds.max_rows_per_unit)
    _check_positive("bounds.max_groups_per_unit", bounds.max_groups_per_unit)
    return dict(bounds.tables)


def _check_positive(option: str, bound: int | None) -> None:
    if bound is not None and bound < 1:
        message = f"{option} must be at least 1"
        raise InvalidOptionError(message)


def _scan(scope: Scope, asked: int | None, position: Position) -> Scan:
    declared = scope.table.max_rows_per_unit
    if declared is None or declared < 1:
        raise refuse(ROW_BOUND_NEEDED, position)
    lower = asked if asked is not None and asked < declared else None
    return Scan(scope.table, scope.unit_column, declared, lower)


def _bounded(
    child: Node, keys: tuple[ColumnRef, ...], bounds: ContributionBounds
) -> Node:
    """Bound contributions where that can drop anything; equal plans stay equal."""
    most = child.rows_per_unit
    rows = _if_lower(bounds.max_rows_per_unit, most)
    groups = _if_lower(bounds.max_groups_per_unit, most) if keys else None
    if rows is None and groups is None:
        return child
    return BoundContributions(child, keys, groups, rows)


def _if_lower(bound: int | None, most: int) -> int | None:
    return bound if bound is not None and bound < most else None


def _bound_warnings(plan: Aggregate, unit: str) -> list[QueryWarning]:
    """Say that rows may be left out, by public facts only."""
    parts: list[str] = []
    node = plan.child
    if isinstance(node, BoundContributions):
        parts += [f"groups beyond {node.max_groups}"] if node.max_groups else []
        parts += [f"rows beyond {node.max_rows}"] if node.max_rows else []
    scan = scan_of(node)
    if scan.max_rows:
        parts.append(f"rows of {scan.table.name} beyond {scan.max_rows}")
    if not parts:
        return []
    detail = (
        f"the bounds asked for leave out {', '.join(parts)} of each {unit} "
        "(which ones is fixed, and the same in every query): "
        "answers describe the rows that stay"
    )
    return [QueryWarning("rows_bounded", detail)]
