"""A plan to DuckDB SQL: catalogue identifiers, bound parameters, nothing that raises.

Stored layout: a private table has ``unit_key``, ``row_hash`` and ``row_rank`` beside
its declared columns; decimals are scaled BIGINTs. The text of a query never gets here.
"""

from query_lang.compiled import RenderedPlan
from query_lang.domains import cells, stored_cell
from query_lang.fragments import Fragment, identifier, listed
from query_lang.plan import (
    Aggregate,
    BoundContributions,
    CountRowsMeasure,
    Filter,
    MeasureKind,
    Node,
    Scan,
    scan_of,
)
from query_lang.predicates import ColumnRef
from query_lang.render_conditions import render_condition

UNIT_KEY, ROW_HASH, ROW_RANK = "unit_key", "row_hash", "row_rank"


def render_plan(plan: Aggregate) -> RenderedPlan:
    """Return the SQL of a plan, its parameters, and the cells that its rows fill."""
    keys = [Fragment(identifier(key.column.name)) for key in plan.keys]
    measures = [Fragment(_measure(measure)) for measure in plan.measures]
    query = (
        Fragment("SELECT ")
        + listed([*keys, *measures])
        + Fragment("\nFROM ")
        + _node(plan.child)
    )
    if keys:
        query += Fragment("\nGROUP BY ") + listed(keys)
    public = cells(plan.keys)
    return RenderedPlan(
        sql=query.sql,
        parameters=query.parameters,
        cells=public,
        stored_cells=tuple(stored_cell(cell, plan.keys) for cell in public),
        vector_count=len(plan.measures),
        tables=(scan_of(plan.child).table.name,),
    )


def _measure(measure: MeasureKind) -> str:
    if isinstance(measure, CountRowsMeasure):
        return "COUNT(*)"
    return f"COUNT(DISTINCT {identifier(UNIT_KEY)})"


def _node(node: Node) -> Fragment:
    match node:
        case Scan():
            return _scan(node)
        case Filter(child, predicate):
            condition = render_condition(predicate)
            return _select(_node(child), condition)
        case _:
            return _bounded(node)


def _select(source: Fragment, condition: Fragment) -> Fragment:
    """Return a derived table of the source's rows that fulfil a condition."""
    inner = Fragment("SELECT * FROM ") + source + Fragment(" WHERE ") + condition
    return Fragment("(") + inner + Fragment(")")


def _scan(node: Scan) -> Fragment:
    table = Fragment(identifier(node.table.name))
    if node.max_rows is None:
        return table
    bound = Fragment(f"{identifier(ROW_RANK)} <= ?", (node.max_rows,))
    return _select(table, bound)


def _bounded(node: BoundContributions) -> Fragment:
    """Number each unit's groups, then its rows, and keep the first of each."""
    source = _node(node.child)
    if node.max_groups is not None:
        source = _first_groups(source, node.keys, node.max_groups)
    if node.max_rows is not None:
        source = _first_rows(source, node.max_rows)
    return source


def _first_groups(source: Fragment, keys: tuple[ColumnRef, ...], most: int) -> Fragment:
    """Keep groups by their least row_hash, which no two groups of a unit share."""
    names = [UNIT_KEY, *(key.column.name for key in keys)]
    least = _windowed(
        source,
        f"MIN({identifier(ROW_HASH)}) OVER (PARTITION BY "
        f"{', '.join(map(identifier, names))})",
        "_group_hash",
    )
    numbered = _windowed(
        least,
        f"DENSE_RANK() OVER (PARTITION BY {identifier(UNIT_KEY)} "
        f"ORDER BY {identifier('_group_hash')})",
        "_group_number",
    )
    return _select(numbered, Fragment(f"{identifier('_group_number')} <= ?", (most,)))


def _first_rows(source: Fragment, most: int) -> Fragment:
    numbered = _windowed(
        source,
        f"ROW_NUMBER() OVER (PARTITION BY {identifier(UNIT_KEY)} "
        f"ORDER BY {identifier(ROW_HASH)})",
        "_row_number",
    )
    return _select(numbered, Fragment(f"{identifier('_row_number')} <= ?", (most,)))


def _windowed(source: Fragment, window: str, name: str) -> Fragment:
    """Add a column; its name begins with _, as no declared name can."""
    added = listed([Fragment("*"), Fragment(f"{window} AS {identifier(name)}")])
    return Fragment("(SELECT ") + added + Fragment(" FROM ") + source + Fragment(")")
