"""Make a failing question and its rows small, as long as they fail in the same way.

Greedy: of all trees that differ by one simplification the first that still fails is
kept, until none does or the time is over; then rows are left out in the same way.
"""

import time
from dataclasses import fields, replace
from itertools import islice

from tests.semantics.grammar import Question
from tests.semantics.meaning import tree

_OPTIONAL = frozenset(
    {"where", "having", "limit", "otherwise", "frame", "bins", "nulls_first", "operand"}
)


def shrunk(question, tables, fails, *, seconds=60):
    """Return a smaller (question, tables) that fails in the same way.

    Args:
        question: A failing question.
        tables: Its rows.
        fails: From question and tables to the kind of failure, None for none.
        seconds: When to stop looking.
    """
    kind = fails(question, tables)
    end = time.monotonic() + seconds
    tables = _smaller(tables, _fewer_rows, lambda t: fails(question, t) == kind, end)
    found = _smaller(
        question, _simpler_questions, lambda q: fails(q, tables) == kind, end
    )
    tables = _smaller(tables, _fewer_rows, lambda t: fails(found, t) == kind, end)
    return found, tables


def _smaller(value, variants, still_fails, end):
    """Take every step that still fails, pass after pass, until a pass takes none.

    After a step the next pass goes on at the same place: what came before was tried.
    """
    place, untried = 0, True
    while untried:
        untried = place > 0
        for candidate in islice(variants(value), place, None):
            if time.monotonic() > end:
                return value
            if still_fails(candidate):
                value, untried = candidate, True
                break
            place += 1
        else:
            place = 0
    return value


def _fewer_rows(tables):
    """Yield databases without one unit, then without one row."""
    units = {row["unit"] for rows in tables.values() for row in rows if "unit" in row}
    for unit in sorted(units):
        yield without_unit(tables, unit)
    for name, rows in tables.items():
        for place in range(len(rows)):
            fewer = [*rows[:place], *rows[place + 1 :]]
            yield {**tables, name: ranked(fewer)}


def without_unit(tables, unit):
    """Return the database of a neighbour: all rows of one unit removed."""
    return {
        name: [row for row in rows if "unit" not in row or row["unit"] != unit]
        for name, rows in tables.items()
    }


def ranked(rows):
    """Return rows with ranks that follow from their hashes."""
    if not rows or "unit" not in rows[0]:
        return rows

    def rank(row):
        own = (r["row_hash"] for r in rows if r["unit"] == row["unit"])
        return sum(value <= row["row_hash"] for value in own)

    return [{**row, "row_rank": rank(row)} for row in rows]


def _simpler_questions(question):
    bounds = question.bounds
    if bounds.tables:
        yield replace(question, bounds=replace(bounds, tables=()))
    if bounds.max_rows_per_unit is not None:
        yield replace(question, bounds=replace(bounds, max_rows_per_unit=None))
    if bounds.max_groups_per_unit is not None:
        yield replace(question, bounds=replace(bounds, max_groups_per_unit=None))
    for simpler in variants(question.tree):
        yield Question(simpler, bounds)


def variants(node):
    """Yield trees that are one step simpler than ``node``, coarse steps first."""
    yield from _own_variants(node)
    for field in fields(node):
        value = getattr(node, field.name)
        if field.name in _OPTIONAL and value is not None:
            yield replace(node, **{field.name: None})
        for simpler in _value_variants(value):
            yield replace(node, **{field.name: simpler})


def _value_variants(value):
    if isinstance(value, tuple):
        for place in range(len(value)):
            yield (*value[:place], *value[place + 1 :])
        for place, part in enumerate(value):
            for simpler in _value_variants(part):
                yield (*value[:place], simpler, *value[place + 1 :])
    elif hasattr(value, "__dataclass_fields__"):
        yield from variants(value)


def _own_variants(node):  # noqa: C901, PLR0912 - one branch a kind
    match node:
        case tree.Select():
            yield from _select_variants(node)
        case tree.UnionAll(parts):
            yield from parts
        case tree.Derived(query=tree.Select(joins=(), group_by=()) as inner):
            yield replace(inner.source, alias=node.alias)
        case tree.And() | tree.Or() | tree.Coalesce():
            yield from node.items
        case tree.Window() | tree.Agg() | tree.Item() | tree.OrderItem():
            pass
        case tree.Case(branches=branches):
            yield from (result for _, result in branches)
        case _:
            for child in tree.children(node):
                if isinstance(child, tree.Expr):
                    yield child


def _select_variants(select):
    """Leave out an item together with the group key that it shows."""
    if not select.group_by:
        return
    keys = tuple(_key(key, select.items) for key in select.group_by)
    written = replace(select, group_by=keys, order_by=())
    if written != select:
        yield written
    for item in select.items:
        rest = tuple(i for i in select.items if i is not item)
        fewer = tuple(key for key in keys if key != item.expression)
        yield replace(written, items=rest, group_by=fewer)


def _key(key, items):
    if isinstance(key, int):
        return items[key - 1].expression
    named = [i.expression for i in items if key == tree.Col(i.alias or "")]
    return named[0] if named else key
