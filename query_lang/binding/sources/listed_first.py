"""``listed LEFT JOIN private``: each row of a listed public table is a group.

SQL has a row for a region without patients. Here each of its values is a cell whatever
rows there are, so that an INNER join has the same groups, once nothing counts the row
that met none. Source: docs/adr/0072-rows-of-public-tables.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from privacy.schema import Dataset, Table
from query_lang.rewriting.constants.unmatched import (
    IsLiteral,
    check_unmatched,
    column_of,
    ties,
)
from query_lang.rewriting.trees import called, conjuncts, parts
from query_lang.syntax.nodes import (
    Comparison,
    DerivedTable,
    Join,
    Name,
    Query,
    TableName,
)


def listed_first(tree: Query, dataset: Dataset) -> Query:
    """Return a query whose FROM begins with a private table, if it can be.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``: an aggregate counts a row of the
            public table that met none.
    """
    select = tree.select
    known = {table.name for table in tree.common_tables}
    tables = {n: t for n, t in dataset.tables.items() if n not in known}
    table = _public(select.source, tables)
    if table is None or not select.joins or not select.group_by:
        return tree
    first, *others = select.joins
    is_column = _column_of(table, called(select.source))
    keeps_all = first.kind == "left" and _public(first.source, tables) is None
    if not keeps_all or not stays(first, table, is_column):
        return tree
    if any(ties(join, is_column) for join in others):
        return tree  # it would join what is looked up to rows that met none
    check_unmatched(select, is_column)
    said = (*select.group_by, *(item.expression for item in select.items))
    keys = {n.name: n for n in parts(said) if isinstance(n, Name) and is_column(n)}
    is_thinned = select.where is not None or any(j.kind != "left" for j in others)
    turned = replace(first, kind="inner", source=select.source)
    found = replace(
        select,
        source=first.source,
        joins=(turned, *others),
        unmatched=(*select.unmatched, *keys.values()),
        is_thinned=select.is_thinned or is_thinned,
    )
    return replace(tree, select=found)


@dataclass(frozen=True, slots=True)
class PublicTies:
    """What a join says of the public table that it joins.

    Attributes:
        dataset: Whose tables are joined.
    """

    dataset: Dataset

    def meet_one(self, join: Join) -> bool:
        """Whether a row meets one row of the table at most: its key is equated."""
        table = _public(join.source, self.dataset.tables)
        if table is None or not table.key:
            return False
        is_column = _column_of(table, called(join.source))
        equated = {name.name for name in _equated(join, is_column) if name is not None}
        return {*equated, *join.using} >= set(table.key)

    def columns_of(self, source: TableName) -> set[str] | None:
        """Return the columns of a table of the dataset; None of others."""
        table = self.dataset.tables.get(source.name)
        return None if table is None else {column.name for column in table.columns}

    def keep_all(self, join: Join) -> bool:
        """Whether all rows of the table are values of what ON ties it by."""
        table = _public(join.source, self.dataset.tables)
        if table is None:
            return False
        return stays(join, table, _column_of(table, called(join.source)))


def stays(join: Join, table: Table, is_column: IsLiteral) -> bool:
    """Whether each row of a listed table is a value of what ON equates with it.

    It equates the table's whole key, of which no row has NULL, and nothing more.
    """
    places = [n for n, c in enumerate(table.columns) if c.name in table.key]
    found = list(_equated(join, is_column))
    keys = {name.name for name in found if name is not None}
    is_whole = (
        keys == set(table.key) and bool(keys and table.rows) and None not in found
    )
    return is_whole and all(row[n] is not None for row in table.rows for n in places)


def _equated(join: Join, is_column: IsLiteral) -> Iterator[Name | None]:
    """Yield the columns of a table that ON equates with others'; None: it says more."""
    for part in conjuncts(join.condition):
        own = [p for p in parts(part) if isinstance(p, Name) and is_column(p)]
        if not own:
            continue
        is_tie = isinstance(part, Comparison) and part.operator == "="
        sides = (part.left, part.right) if isinstance(part, Comparison) else ()
        yield own[0] if is_tie and len(own) == 1 and own[0] in sides else None


def _public(
    source: TableName | DerivedTable, tables: Mapping[str, Table]
) -> Table | None:
    table = tables.get(source.name) if isinstance(source, TableName) else None
    return table if table is not None and table.is_public else None


def _column_of(table: Table, name: str) -> IsLiteral:
    return column_of({name: {column.name for column in table.columns}})
