"""A query over an aggregated one is one query: its columns are written out.

``SELECT yr, n, n - LAG(n) OVER (ORDER BY yr) FROM (SELECT year AS yr, COUNT(*) AS n ...
GROUP BY 1) AS y`` counts once and computes of what it counted. A query at the top that
neither groups nor aggregates has no other meaning, since it would show rows.
"""

from collections.abc import Mapping
from dataclasses import replace

from query_lang.rewriting.trees import check_repeats, mapped, parts
from query_lang.syntax.nodes import (
    AggregateCall,
    And,
    CommonTable,
    CountRows,
    DerivedTable,
    Expression,
    Name,
    NumberLiteral,
    OrderItem,
    Query,
    Select,
    SelectItem,
    Star,
    TableName,
    UnionAll,
    WindowCall,
)

_Tables = tuple[CommonTable, ...]
_Columns = Mapping[str, Expression]


def with_one_aggregate(tree: Query) -> Query:
    """Return a query whose top is the SELECT that aggregates, where one below does."""
    select = _flat(tree.select, tree.common_tables)
    if select is tree.select:
        return tree
    return Query(_named(tree.common_tables, select), select)


def _flat(select: Select, tables: _Tables) -> Select:
    """Return a SELECT that aggregates; the same where it reads none that does.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``: written out it is too long.
    """
    below, seen = _source(select, tables)
    if below is None or _aggregates(select) or _keeps_apart(select):
        return select
    below = _flat(below, seen)
    if not _aggregates(below) or below.distinct:
        return select
    joined = _joined(select, below)
    if joined is None:
        return select
    check_repeats(Query((), joined))
    return joined


def _source(select: Select, tables: _Tables) -> tuple[Select | None, _Tables]:
    """Return the only query that a SELECT reads, if it is one SELECT.

    And the common tables that it may name: those before it.
    """
    source = select.source
    query: Select | UnionAll | None = None
    if isinstance(source, DerivedTable):
        query = source.query
    else:
        for place, table in enumerate(tables):
            if table.name == source.name:
                query, tables = table.query, tables[:place]
                break
    if isinstance(query, Select) and not select.joins:
        return query, tables
    return None, tables


def _keeps_apart(select: Select) -> bool:
    return select.distinct or select.having is not None


def _aggregates(select: Select) -> bool:
    items = tuple(item.expression for item in select.items)
    return bool(select.group_by) or any(map(_is_aggregate, items))


def _is_aggregate(tree: Expression) -> bool:
    """Whether an expression holds an aggregate that is no window's."""
    windows = {id(p.function) for p in parts(tree) if isinstance(p, WindowCall)}
    return any(
        isinstance(part, AggregateCall | CountRows) and id(part) not in windows
        for part in parts(tree)
    )


def _joined(above: Select, below: Select) -> Select | None:
    columns = {
        name: item.expression
        for item in below.items
        if (name := _name(item)) is not None
    }
    reader = _Reader(above.source, columns)
    items = _items(above, below, reader)
    where = None if above.where is None else reader.read(above.where)
    shown = {name for item in items if (name := _name(item)) is not None}
    order = tuple(reader.ordered(item, shown) for item in above.order_by)
    if reader.is_lost or _has_window(where):
        return None
    return replace(
        below,
        items=items,
        group_by=tuple(_key(key, below, columns) for key in below.group_by),
        having=_both(below.having, where),
        order_by=order,
        limit=above.limit,
        position=above.position,
    )


def _name(item: SelectItem) -> str | None:
    expression = item.expression
    named = expression.name if isinstance(expression, Name) else None
    return item.alias or named


def _items(above: Select, below: Select, reader: "_Reader") -> tuple[SelectItem, ...]:
    if any(isinstance(item.expression, Star) for item in above.items):
        return below.items if len(above.items) == 1 else reader.lose()
    return tuple(
        SelectItem(reader.read(item.expression), _name(item), item.position)
        for item in above.items
    )


def _key(key: Expression, below: Select, columns: _Columns) -> Expression:
    """Return a key as GROUP BY meant it where it stood: the list has other items now.

    A column of the table goes before an alias; if it is one, the SELECT list shows no
    key, which is refused either way.
    """
    if isinstance(key, NumberLiteral) and key.text.isdigit():
        place = int(key.text)
        return below.items[place - 1].expression if _holds(below, place) else key
    if isinstance(key, Name) and key.qualifier is None and key.name in columns:
        meant = columns[key.name]
        of_itself = any(
            isinstance(p, Name) and p.name == key.name for p in parts(meant)
        )
        return key if of_itself else meant
    return key


def _holds(below: Select, place: int) -> bool:
    return 1 <= place <= len(below.items)


def _both(one: Expression | None, other: Expression | None) -> Expression | None:
    if one is None or other is None:
        return one or other
    return And((one, other), one.position)


def _has_window(tree: Expression | None) -> bool:
    return any(isinstance(part, WindowCall) for part in parts(tree))


class _Reader:
    """Writes out what the columns of the query below are."""

    def __init__(self, source: TableName | DerivedTable, columns: _Columns) -> None:
        self._known = {None, source.alias}
        if isinstance(source, TableName) and source.alias is None:
            self._known.add(source.name)
        self._columns = columns
        self.is_lost = False

    def lose(self) -> tuple[SelectItem, ...]:
        """Note that something has no meaning here."""
        self.is_lost = True
        return ()

    def read(self, tree: Expression) -> Expression:
        """Return an expression of the columns as one of what they are."""
        return mapped(tree, self._written)

    def ordered(self, item: OrderItem, shown: set[str]) -> OrderItem:
        """Return an item of ORDER BY; names of the SELECT list go before columns."""
        tree = item.expression
        is_shown = isinstance(tree, Name) and tree.qualifier is None
        if isinstance(tree, Name) and is_shown and tree.name in shown:
            return item
        if isinstance(tree, NumberLiteral):
            return item
        return replace(item, expression=self.read(tree))

    def _written(self, node: object) -> object:
        if isinstance(node, Select):
            self.is_lost = True  # a subquery has names of its own
        if not isinstance(node, Name):
            return node
        if node.qualifier not in self._known or node.name not in self._columns:
            self.is_lost = True
            return node
        return self._columns[node.name]


def _named(tables: tuple[CommonTable, ...], select: Select) -> tuple[CommonTable, ...]:
    """Return the common tables that are still read, by others that are too."""
    wanted: set[str] = _tables_of(select)
    kept: list[CommonTable] = []
    for table in reversed(tables):
        if table.name in wanted:
            kept.append(table)
            wanted |= _tables_of(table.query)
    return tuple(reversed(kept))


def _tables_of(tree: object) -> set[str]:
    return {part.name for part in parts(tree) if isinstance(part, TableName)}
