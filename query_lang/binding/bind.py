"""A parsed query and a public schema to a private plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from privacy.contributions import ContributionBounds
from privacy.errors import InvalidOptionError, QueryError
from privacy.schema import Dataset
from query_lang.binding.distinct_rows import with_distinct_rows
from query_lang.binding.environment import Environment
from query_lang.binding.expressions import ExpressionBinder
from query_lang.binding.outside_domain import untold
from query_lang.binding.queries import QueryBinder
from query_lang.binding.results.dependent_keys import Beside
from query_lang.binding.results.stacked_answers import check_apart, check_units
from query_lang.binding.results.totals import check_totals
from query_lang.binding.scalars.narrowing import Conditions
from query_lang.binding.sources.listed_first import PublicTies, listed_first
from query_lang.binding.top.top import Top, TopBinder
from query_lang.plans.compiled import QueryWarning, row_count
from query_lang.plans.costs import MAX_NUMBERS
from query_lang.plans.domains import check_answer_bytes, check_cells, check_numbers
from query_lang.plans.nodes import (
    Aggregate,
    BoundContributions,
    Compute,
    CountDistinctMeasure,
    CountUnitsMeasure,
    HistogramMeasure,
    Node,
    computed_in,
    conditions_of,
    scans_of,
)
from query_lang.plans.stability import check_rows
from query_lang.rewriting.answers.groups import over_groups
from query_lang.rewriting.answers.looked_up import grouped_below
from query_lang.showing.chosen_rows import chosen_warnings
from query_lang.syntax import rules
from query_lang.syntax.nodes import CommonTable, Position, Query
from query_lang.syntax.refusals import refuse

MANY_TIMES = 5
"""A join of so many times the rows of its largest table is told of."""


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """A plan, where its text begins, and what the analyst may not have meant."""

    plan: Aggregate
    position: Position
    warnings: tuple[QueryWarning, ...] = ()
    steps: int = 0  # that binding took


def bind_query(
    tree: Query,
    dataset: Dataset,
    bounds: ContributionBounds,
    answer_numbers: int = MAX_NUMBERS,
) -> ResolvedQuery:
    """Return the plan of a query under the bounds that a request asks for.

    Raises:
        QueryError: A name, type or form breaks a rule of the language.
        InvalidOptionError: A bound is not positive, or names no private table.
    """
    asked = check_bounds(bounds, dataset)
    tree = listed_first(tree, dataset)
    environment = Environment(dataset, asked, _common_tables(tree, dataset))
    try:
        return _bound(tree, environment, bounds, answer_numbers)
    except QueryError as error:
        error.steps = environment.sizes.steps
        found = _of_groups(tree, error, dataset)
        if found is None:
            raise
        known = _common_tables(found, dataset)
        again = Environment(dataset, asked, known)
        try:
            return _bound(found, again, bounds, answer_numbers)
        except QueryError:
            error.steps += again.sizes.steps
        raise


def _of_groups(tree: Query, error: QueryError, dataset: Dataset) -> Query | None:
    """Return a query over groups of all units as one of its answer's rows, if it is.

    Whether the groups below are those of a unit is known once they are bound.
    """
    if getattr(error, "rule", None) not in _OF_GROUPS:
        return None
    public = {
        table.name: {column.name for column in table.columns}
        for table in dataset.tables.values()
        if table.is_public
    }
    try:
        return over_groups(tree) or grouped_below(tree, public, PublicTies(dataset))
    except QueryError:
        return None


_OF_GROUPS = {rules.GROUP_BY_UNIT.name, rules.PUBLIC_FIRST.name}


def _bound(
    tree: Query,
    environment: Environment,
    bounds: ContributionBounds,
    answer_numbers: int,
) -> ResolvedQuery:
    queries = QueryBinder()
    node, scope = queries.filtered(tree.select, environment)
    check_rows(node.rows_per_unit, tree.select.position)
    rows = ExpressionBinder(scope, environment, queries)
    conditions = Conditions(
        tuple(conditions_of(node)), environment.tries, computed_in(node)
    )
    beside = Beside.of(node)
    top = TopBinder(rows, tree.select, node, conditions, beside).bind()
    if tree.select.stacks:
        place = tree.select.position
        check_apart(node, [key.slot for key in top.keys], place)
        check_units(node, tree.select.units, top.measures, place)
    _check_size(top, tree, answer_numbers)
    if top.items:
        node = Compute(node, top.items)
    node = bounded(node, tuple(key.slot for key in top.keys), bounds)
    plan = Aggregate(node, top.keys, top.measures, top.columns, top.presentation)
    plan = with_distinct_rows(plan, environment)
    check_totals(plan, top.measure_positions, environment)
    warnings = (
        *environment.warnings,
        *untold(environment.counted),
        *multiplied_warnings(plan, environment.dataset.unit),
        *bound_warnings(plan, environment),
        *chosen_warnings(top.presentation),
    )
    steps = environment.sizes.steps
    return ResolvedQuery(plan, tree.select.position, warnings, steps)


def multiplied_warnings(plan: Aggregate, unit: str) -> list[QueryWarning]:
    """Say where joins make many times the rows of a unit that any table has."""
    rows = plan.child.rows_per_unit
    most = max(scan.rows_per_unit for scan in scans_of(plan.child))
    counts_rows = any(
        not isinstance(measure, CountUnitsMeasure | CountDistinctMeasure)
        for measure in plan.measures
    )
    if not counts_rows or rows < MANY_TIMES * most:
        return []
    detail = (
        f"joins give one {unit} up to {rows:,} rows, and the noise is for so many: "
        "where a table only decides which rows of another count, ask by EXISTS; or "
        "take the rows that are needed before joining, by DISTINCT, ROW_NUMBER or "
        "GROUP BY the unit key"
    )
    return [QueryWarning("rows_multiplied", detail)]


def _common_tables(tree: Query, dataset: Dataset) -> Mapping[str, CommonTable]:
    found: dict[str, CommonTable] = {}
    for common in tree.common_tables:
        if common.name in dataset.tables or common.name in found:
            raise refuse(rules.COMMON_TABLE_NAME, common.position)
        found[common.name] = common
    return found


def _check_size(top: Top, tree: Query, answer_numbers: int) -> None:
    histograms = [m.bins.count for m in top.measures if isinstance(m, HistogramMeasure)]
    place = top.key_positions[0] if top.key_positions else tree.select.position
    sizes = [len(key.values) for key in top.keys]
    check_cells(top.keys, max(histograms, default=1), place)
    measured = sum(histograms) + len(top.measures) - len(histograms)
    columns = max(measured, len(top.columns))
    sets = top.presentation.sets
    cells = max(prod(sizes), row_count(sets, sizes), len(sets) * prod(sizes))
    check_numbers(cells, columns, place, answer_numbers)
    check_answer_bytes(top.keys, top.columns, place, answer_numbers, len(sets))


def check_bounds(bounds: ContributionBounds, dataset: Dataset) -> dict[str, int]:
    """Return the bounds on tables, if all that is asked for can be bounded.

    Raises:
        InvalidOptionError: A table is unknown or public, or a bound is not positive.
    """
    for name, most in bounds.tables:
        table = dataset.tables.get(name)
        if table is None or table.is_public:
            private = [t.name for t in dataset.tables.values() if not t.is_public]
            message = (
                "bounds.tables names private tables of the dataset only: "
                f"{', '.join(private)}"
            )
            raise InvalidOptionError(message)
        _check_positive(f"bounds.tables.{name}", most)
    _check_positive("bounds.max_rows_per_unit", bounds.max_rows_per_unit)
    _check_positive("bounds.max_groups_per_unit", bounds.max_groups_per_unit)
    return dict(bounds.tables)


def _check_positive(option: str, bound: int | None) -> None:
    if bound is not None and bound < 1:
        message = f"{option} must be at least 1"
        raise InvalidOptionError(message)


def bounded(child: Node, keys: tuple[int, ...], bounds: ContributionBounds) -> Node:
    """Bound contributions where that can drop anything; equal plans stay equal."""
    most = child.rows_per_unit
    rows = _if_lower(bounds.max_rows_per_unit, most)
    groups = _if_lower(bounds.max_groups_per_unit, most) if keys else None
    if rows is None and groups is None:
        return child
    return BoundContributions(child, keys, groups, rows)


def _if_lower(bound: int | None, most: int) -> int | None:
    return bound if bound is not None and bound < most else None


def bound_warnings(plan: Aggregate, environment: Environment) -> list[QueryWarning]:
    """Say that rows may be left out, by public facts only."""
    parts: list[str] = []
    node = plan.child
    if isinstance(node, BoundContributions):
        parts += [f"groups beyond {node.max_groups}"] if node.max_groups else []
        parts += [f"rows beyond {node.max_rows}"] if node.max_rows else []
    for name, most in environment.bounded_tables.items():
        parts.append(f"rows of {name} beyond {most}")
    if not parts:
        return []
    detail = (
        f"the bounds asked for leave out {', '.join(parts)} of each "
        f"{environment.dataset.unit} "
        "(which ones is fixed, and the same in every query): "
        "answers describe the rows that stay"
    )
    return [QueryWarning("rows_bounded", detail)]
