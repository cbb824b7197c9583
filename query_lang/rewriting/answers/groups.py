"""Aggregates of groups: ``SELECT AVG(n) FROM (SELECT year, COUNT(*) AS n ...)``.

They are windows over the rows of the answer, of which one row stays of each partition.
"""

from dataclasses import replace
from typing import Final

from query_lang.rewriting.layers import with_one_aggregate
from query_lang.rewriting.trees import aggregates, outermost, output_of
from query_lang.syntax.nodes import (
    AggregateCall,
    Comparison,
    CountRows,
    DerivedTable,
    Expression,
    FunctionCall,
    Name,
    NumberLiteral,
    OrderItem,
    Query,
    Select,
    TableName,
    WindowCall,
)

_OF_ROWS: Final = frozenset({"sum", "avg", "min", "max"})
"""Aggregates that windows over the answer's rows have."""


def over_groups(tree: Query) -> Query | None:  # noqa: PLR0911 - an arm a form
    """Return a query that aggregates groups as windows over them, if it can be.

    Its keys need not be selected: they are groups of the query below.
    """
    above = tree.select
    below = _below(above, tree)
    if below is None or above.joins or above.distinct or above.having is not None:
        return None
    if above.kept is not None or above.limit is not None or above.sets:
        return None
    keys = [key for key in above.group_by if isinstance(key, Name)]
    if len(keys) < len(above.group_by) or not aggregates(above):
        return None
    items = tuple(
        replace(
            item,
            expression=_as_window(item.expression, tuple(keys)),
            alias=output_of(item) or _title(item.expression),
        )
        for item in above.items
    )
    if any(_counts(item.expression) for item in items):
        return None
    windowed = replace(above, items=items, group_by=())
    if keys:
        order = _other_key(below, keys)
        if order is None:
            return None
        first = FunctionCall("row_number", (), above.position)
        terms = (OrderItem(order, False, None, above.position),)  # noqa: FBT003 - fields in their order
        number = WindowCall(first, tuple(keys), terms, None, above.position)
        one = NumberLiteral("1", above.position)
        kept = Comparison("=", number, one, above.position)
        windowed = replace(windowed, kept=kept)
    found = with_one_aggregate(replace(tree, select=windowed))
    if found.select is windowed:
        return None
    limit = None if keys else 1
    return replace(found, select=replace(found.select, limit=limit, hides_keys=True))


def _below(above: Select, tree: Query) -> Select | None:
    query = None
    if isinstance(above.source, DerivedTable):
        query = above.source.query
    elif isinstance(above.source, TableName):
        named = {table.name: table.query for table in tree.common_tables}
        query = named.get(above.source.name)
    return query if isinstance(query, Select) and query.group_by else None


def _as_window(tree: Expression, keys: tuple[Name, ...]) -> Expression:
    def changed(node: Expression) -> Expression:
        is_one = isinstance(node, AggregateCall) and node.name in _OF_ROWS
        if not is_one or not isinstance(node, AggregateCall) or node.distinct:
            return node
        return WindowCall(node, keys, (), None, node.position)

    return outermost(tree, (AggregateCall, CountRows, WindowCall), changed)


def _counts(tree: Expression) -> bool:
    """Whether an aggregate is left that is no window."""
    left: list[object] = []

    def seen(node: Expression) -> Expression:
        if not isinstance(node, WindowCall):
            left.append(node)
        return node

    outermost(tree, (AggregateCall, CountRows, WindowCall), seen)
    return bool(left)


def _title(tree: Expression) -> str | None:
    return tree.name if isinstance(tree, AggregateCall) else None


def _other_key(below: Select, keys: list[Name]) -> Name | None:
    """Return a column of the groups below that tells them apart beside the keys."""
    shown = {key.name for key in keys}
    for item in below.items:
        name = output_of(item)
        is_key = item.expression in below.group_by or any(
            isinstance(key, Name) and key.name == name for key in below.group_by
        )
        if name is not None and name not in shown and is_key:
            return Name(name, None, item.position)
    places = [k for k in below.group_by if isinstance(k, NumberLiteral)]
    for place in places:
        at = int(place.text) - 1 if place.text.isdecimal() else len(below.items)
        name = output_of(below.items[at]) if at < len(below.items) else None
        if name is not None and name not in shown:
            return Name(name, None, place.position)
    return None
