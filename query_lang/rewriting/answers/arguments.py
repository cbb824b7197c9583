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
    Name,
    NumberLiteral,
    Select,
    SelectItem,
    TableName,
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
    sources = [select.source, *(join.source for join in select.joins)]
    keys = [_lone_key(source, tables) for source in sources]
    name = keys[0]
    if name is None or None in keys:
        return select

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


def _lone_key(
    source: TableName | DerivedTable, tables: Sequence[CommonTable]
) -> str | None:
    named = {table.name: table.query for table in tables}
    query = named.get(source.name) if isinstance(source, TableName) else source.query
    if not isinstance(query, Select):
        return None
    if query.distinct and len(query.items) == 1 and not query.group_by:
        return output_of(query.items[0])
    if len(query.group_by) != 1:
        return None
    return _selected_as(query.group_by[0], query)


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
