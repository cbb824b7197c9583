"""``listed LEFT JOIN private``: each row of a listed public table is a group.

SQL has a row for a region without patients. Here each of its values is a cell whatever
rows there are, so that an INNER join has the same groups, once nothing counts the row
that met none. Source: docs/adr/0072-rows-of-public-tables.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from privacy.schema import Dataset, Table
from query_lang.rewriting.constants.unmatched import check_unmatched
from query_lang.rewriting.trees import called, parts
from query_lang.syntax.nodes import DerivedTable, Join, Name, Query, TableName


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
    if table is None or not table.rows or not select.joins or not select.group_by:
        return tree
    first, *others = select.joins
    is_left = first.kind == "left" and first.condition is not None
    if not is_left or _public(first.source, tables) is not None:
        return tree
    is_column = _column_of(table, called(select.source))
    if any(_speaks_of(join, is_column) for join in others):
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


def _speaks_of(join: Join, is_column: Callable[[Name], bool]) -> bool:
    names = [part for part in parts(join.condition) if isinstance(part, Name)]
    names += [Name(name, None, join.position) for name in join.using]
    return join.is_natural or any(map(is_column, names))


def _public(
    source: TableName | DerivedTable, tables: Mapping[str, Table]
) -> Table | None:
    table = tables.get(source.name) if isinstance(source, TableName) else None
    return table if table is not None and table.is_public else None


def _column_of(table: Table, name: str) -> Callable[[Name], bool]:
    """Return what tells a column of a table, alone or with the table's name."""
    columns = {column.name for column in table.columns}

    def is_one(tree: Name) -> bool:
        return tree.name in columns and tree.qualifier in {None, name}

    return is_one
