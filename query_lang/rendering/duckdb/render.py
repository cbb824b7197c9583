"""A plan to DuckDB SQL: catalogue identifiers and bound parameters; it never raises."""

from collections.abc import Mapping, Sequence
from itertools import product

from privacy.schema import ColumnType, Hierarchy, Scalar
from query_lang.plans.domains import cells, stored_value
from query_lang.plans.expressions import Facts
from query_lang.plans.nodes import (
    Aggregate,
    CountDistinctMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    HistogramMeasure,
    Key,
    MeasureKind,
    SumMeasure,
    measured_slots,
)
from query_lang.plans.rendered import Cell, RenderedPlan, Statement
from query_lang.rendering.duckdb.expressions import slot_name
from query_lang.rendering.duckdb.hashes import count_distinct, group_terms
from query_lang.rendering.duckdb.nodes import NodeRenderer
from query_lang.rendering.fragments import Fragment, listed
from query_lang.rendering.keyed_hashes import crowds_cells
from query_lang.rendering.pipelines import is_grouped
from query_lang.syntax.nodes import Position


def render_plan(
    plan: Aggregate, own: Mapping[str, Hierarchy], position: Position
) -> RenderedPlan:
    """Return what the engine runs for a plan, and the cells that its rows fill.

    Args:
        plan: What is measured.
        own: The dataset's own hierarchies.
        position: Where the query begins, for refusals.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``.
    """
    nodes = NodeRenderer(own, position)
    public = cells(plan.keys)
    stored = tuple(product(*map(_stored_values, plan.keys)))
    statements: list[Statement] = []
    plain = [
        (place, measure)
        for place, measure in enumerate(plan.measures)
        if not isinstance(measure, HistogramMeasure)
    ]
    if plain:
        statements.append(_counts(plan, plain, stored, nodes))
    for place, measure in enumerate(plan.measures):
        if isinstance(measure, HistogramMeasure):
            statements.append(_histogram(plan, (place, measure), stored, nodes))
    return RenderedPlan(
        statements=tuple(statements),
        cells=public,
        vector_count=len(plan.measures),
        tables=tuple(nodes.tables),
        scans=nodes.tables.total(),
    )


def render_cube(
    plan: Aggregate, own: Mapping[str, Hierarchy], position: Position
) -> Fragment:
    """Return one statement with a cube's keys and its one measure, a row a group.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``.
    """
    nodes = NodeRenderer(own, position)
    return _counted(plan, list(enumerate(plan.measures)), nodes)


def _stored_values(key: Key) -> list[Scalar | None]:
    return [stored_value(value, key.facts) for value in key.values]


def _counts(
    plan: Aggregate,
    measures: Sequence[tuple[int, MeasureKind]],
    stored: tuple[Cell, ...],
    nodes: NodeRenderer,
) -> Statement:
    query = _counted(plan, measures, nodes)
    vectors = tuple(place for place, _ in measures)
    empty = _empty(plan, 1)
    return Statement(query.sql, query.parameters, stored, vectors, empty)


def _empty(plan: Aggregate, bins: int) -> tuple[int, ...]:
    """Return the places of cells in which WHERE can leave no row, of so many bins each.

    Nothing lies there. Were that wrong, the answer would be, not its noise.
    """
    reached = [[*map({*key.reached}.__contains__, key.values)] for key in plan.keys]
    if all(map(all, reached)):
        return ()
    return tuple(
        place * bins + number
        for place, cell in enumerate(product(*reached))
        if not all(cell)
        for number in range(bins)
    )


def _counted(
    plan: Aggregate,
    measures: Sequence[tuple[int, MeasureKind]],
    nodes: NodeRenderer,
) -> Fragment:
    keys = [slot_name(key.slot) for key in plan.keys]
    shown = [Fragment(name) for name in keys]
    shown += [_measure(plan, measure) for _, measure in measures]
    read = {slot for _, measure in measures for slot in measured_slots(plan, measure)}
    wanted = frozenset(read | {key.slot for key in plan.keys})
    grouped = is_grouped(plan, [measure for _, measure in measures])
    source = (nodes.gathered if grouped else nodes.node)(plan.child, wanted)
    query = Fragment("SELECT ") + listed(shown) + Fragment(" FROM ") + source
    if keys:
        names = [Fragment(name) for name in keys]
        facts = [key.facts for key in plan.keys]
        terms = group_terms(names, facts, keyed=crowds_cells(plan))
        query += Fragment(" GROUP BY ") + listed(terms)
    return query


def _measure(plan: Aggregate, measure: MeasureKind) -> Fragment:  # noqa: PLR0911 - an arm a form
    match measure:
        case CountDistinctMeasure(slot, _, facts):
            keyed = crowds_cells(plan, measure.possible, slot)
            return count_distinct(Fragment(slot_name(slot)), facts, keyed=keyed)
        case CountValuesMeasure(slot):
            return Fragment(f"COUNT({slot_name(slot)})")
        case CountUnitsMeasure(slot) if plan.child.rows_per_unit > 1:
            return Fragment(f"COUNT(DISTINCT {slot_name(slot)})")
        case CountUnitsMeasure(slot, nullable=True):  # then rows are units
            return Fragment(f"COUNT({slot_name(slot)})")
        case SumMeasure(slot, lower, upper):
            return _clamped_sum(slot_name(slot), lower, upper)
        case _:
            return Fragment("COUNT(*)")


def _clamped_sum(name: str, lower: int, upper: int) -> Fragment:
    """Add the values, each within the bounds that its sensitivity was computed from.

    What was declared is held at loading and what is computed lies within its interval:
    nothing is moved. Were an interval wrong, the answer would be, not its noise.
    """
    held = f"LEAST(GREATEST({name}, CAST(? AS BIGINT)), CAST(? AS BIGINT))"
    return Fragment(
        f"SUM(CASE WHEN {name} IS NULL THEN CAST(NULL AS BIGINT) ELSE {held} END)",
        (lower, upper),
    )


def _histogram(
    plan: Aggregate,
    measured: tuple[int, HistogramMeasure],
    stored: tuple[Cell, ...],
    nodes: NodeRenderer,
) -> Statement:
    """Count rows by keys and bin; a bin's number is a key like any other."""
    place, measure = measured
    keys = [slot_name(key.slot) for key in plan.keys]
    wanted = frozenset((measure.slot, *(key.slot for key in plan.keys)))
    source = nodes.gathered(plan.child, wanted)
    names = [Fragment(name) for name in (*keys, "bin")]
    facts = [*(key.facts for key in plan.keys), Facts(ColumnType.INTEGER)]
    keyed = crowds_cells(plan, measure.bins.count)
    groups = listed(group_terms(names, facts, keyed=keyed))
    binned = Fragment(f"(SELECT *, {_bin(measure)} AS bin FROM ") + source  # noqa: S608 - our own names
    binned += Fragment(f" WHERE {slot_name(measure.slot)} IS NOT NULL)")
    query = Fragment("SELECT ") + listed(names) + Fragment(", COUNT(*) FROM ") + binned
    query += Fragment(" GROUP BY ") + groups
    bins = range(measure.bins.count)
    places = tuple((*cell, number) for cell in stored for number in bins)
    empty = _empty(plan, len(bins))
    return Statement(query.sql, query.parameters, places, (place,), empty)


def _bin(measure: HistogramMeasure) -> str:
    """Return the number of the bin that a value of [L, U] lies in."""
    bins, name = measure.bins, slot_name(measure.slot)
    own = f"({name} - DATE '1970-01-01')" if measure.dates else name
    if bins.one_per_value:
        return f"({own} - CAST({bins.lower} AS BIGINT))"
    width = bins.upper - bins.lower
    if width == 0:
        return "CAST(0 AS BIGINT)"
    above = f"(CAST({own} AS HUGEINT) - CAST({bins.lower} AS HUGEINT))"
    number = f"({above} * {bins.count} // CAST({width} AS HUGEINT))"
    return f"CAST(LEAST({number}, {bins.count - 1}) AS BIGINT)"
