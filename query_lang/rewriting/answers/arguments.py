"""Aggregates over columns that have one name in every part of a UNION ALL."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from query_lang.rewriting.trees import (
    called,
    has_window,
    outermost,
    output_of,
    place_of,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    CommonTable,
    CountRows,
    DerivedTable,
    Expression,
    Join,
    Name,
    NumberLiteral,
    Select,
    SelectItem,
    TableName,
    UnionAll,
    WindowCall,
)

AGGREGATES = (AggregateCall, CountRows)


@dataclass(slots=True)
class Arguments:
    """What the aggregates of one part take, under names that all parts have.

    Attributes:
        taken: What each name is in this part, in their order.
        stem: Of the names.
    """

    stem: str
    taken: dict[str, Expression] = field(default_factory=dict)

    def over(self, tree: Expression) -> Expression:
        """Return an expression whose aggregates take columns by these names."""
        return outermost(tree, (*AGGREGATES, WindowCall), self._aggregate)

    def _aggregate(self, node: Expression) -> Expression:
        if not isinstance(node, AggregateCall) or not node.arguments:
            return node
        value, *rest = node.arguments
        name = next((n for n, known in self.taken.items() if known == value), "")
        name = name or f"{self.stem}_{len(self.taken) + 1}"
        self.taken[name] = value
        column = Name(name, None, value.position)
        return replace(node, arguments=(column, *rest))

    def items(self) -> list[SelectItem]:
        """Return the columns that the part must have."""
        return [SelectItem(v, name, v.position) for name, v in self.taken.items()]


def evened(parts: Sequence[Arguments], sources: Sequence[Select]) -> bool:
    """Give every part as many columns: a name alone is a column of others, too.

    COUNT(*) of one table beside COUNT(DISTINCT patient_id) of another: both are read
    with their patient_id. Returns whether all have as many now.
    """
    longest = max(parts, key=lambda each: len(each.taken))
    for part, select in zip(parts, sources, strict=True):
        table = called(select.source) or None
        for name, value in longest.taken.items():
            if name in part.taken:
                continue
            if not isinstance(value, Name):
                return False
            part.taken[name] = replace(value, qualifier=table)
    return True


def of_units(select: Select, tables: Sequence[CommonTable]) -> Select:
    """Count the rows of a table with one row for each key as different keys.

    ``SELECT COUNT(*) FROM (SELECT patient_id FROM stays GROUP BY patient_id)``.
    """
    name = _key_of_all(select, tables)
    return select if name is None else rows_as(name, select)


def rows_as(name: str, select: Select) -> Select:
    """Return a SELECT that counts different values of a column in place of rows."""

    def counted(node: Expression) -> Expression:
        if not isinstance(node, CountRows):
            return node
        column = Name(name, called(select.source) or None, node.position)
        return AggregateCall("count", True, (column,), (), node.position)  # noqa: FBT003 - fields in their order

    items = tuple(
        replace(item, expression=outermost(item.expression, AGGREGATES, counted))
        for item in select.items
    )
    return replace(select, items=items)


def keeps_first(select: Select) -> bool:
    """Whether joins leave each row of the first table, or leave it out: RIGHT adds."""
    return {(join.kind, type(join)) for join in select.joins} <= _KEEP_FIRST


def _lone_key(
    source: TableName | DerivedTable, tables: Sequence[CommonTable]
) -> str | None:
    """Return a column that tells the rows of a table apart, if the text says so."""
    query, tables = _query_of(source, tables)
    if not isinstance(query, Select):
        return None
    if query.distinct and len(query.items) == 1 and not query.group_by:
        return output_of(query.items[0])
    if len(query.group_by) == 1:
        return _selected_as(query.group_by[0], query)
    key = None
    if not query.group_by and not query.distinct:
        key = _key_of_all(query, tables)
    return None if key is None else _named(key, query)


def _query_of(
    source: TableName | DerivedTable, tables: Sequence[CommonTable]
) -> tuple[Select | UnionAll | None, Sequence[CommonTable]]:
    """Return the query of a table of FROM, and the tables of WITH that it may name."""
    if isinstance(source, DerivedTable):
        return source.query, tables
    for place, table in enumerate(tables):
        if table.name == source.name:
            return table.query, tables[:place]
    return None, ()


def _key_of_all(select: Select, tables: Sequence[CommonTable]) -> str | None:
    """Return the first table's key where each table of FROM has one row for each."""
    sources = [select.source, *(join.source for join in select.joins)]
    keys = [_lone_key(source, tables) for source in sources]
    return keys[0] if None not in keys and keeps_first(select) else None


_KEEP_FIRST = {("inner", Join), ("left", Join)}
"""Joins after which the first table's key is there, once; RIGHT leaves it out."""


def _named(key: str, query: Select) -> str | None:
    """Return what a query calls the key of its first table."""
    for item in query.items:
        found = item.expression
        if isinstance(found, Name) and found.name == key:
            is_first = found.qualifier in {None, called(query.source)}
            return output_of(item) if is_first else None
    return None


def _selected_as(key: Expression, query: Select) -> str | None:
    """Return what a query calls its key, which is a name or the place of one."""
    if isinstance(key, NumberLiteral):
        place = place_of(key) or 0
        if not 1 <= place <= len(query.items):
            return None
        key = query.items[place - 1].expression
    for item in query.items:
        found = item.expression
        if isinstance(found, Name) and isinstance(key, Name) and found.name == key.name:
            return output_of(item)
    return None


def is_plain(select: Select) -> bool:
    """Whether a SELECT is aggregates of rows, with no clause that chooses groups."""
    clauses = (select.having, select.order_by, select.limit, select.kept, select.sets)
    has_windows = any(has_window(item.expression) for item in select.items)
    return not any(clauses) and not select.distinct and not has_windows
