"""A text without tables of literals, and without lists of columns behind names."""

from dataclasses import replace
from typing import TypeVar

from query_lang.rewriting.constants.joined import read_constants
from query_lang.rewriting.constants.placed import MOST_TABLES
from query_lang.rewriting.constants.rows import (
    Known,
    constants_in,
    constants_of,
)
from query_lang.rewriting.constants.scopes import in_brackets
from query_lang.rewriting.trees import Sizes, mapped, outermost, parts
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    ConstantRows,
    ListedSource,
    ListedTable,
    Series,
    SetOperation,
)
from query_lang.syntax.nodes import (
    CommonTable,
    DerivedTable,
    InList,
    InQuery,
    Name,
    Query,
    Select,
    Star,
    TableName,
    UnionAll,
)
from query_lang.syntax.refusals import refuse

_Query = Select | UnionAll
_Tree = TypeVar("_Tree")


def without_constants(tree: Query) -> Query:
    """Return a query whose tables are declared ones, or read such.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows`` or ``column_list``.
    """
    literals = [p for p in parts(tree) if isinstance(p, ConstantRows | Series)]
    if len(literals) > MOST_TABLES:
        raise refuse(rules.RELATION_COUNT, literals[-1].position)
    known = Known()
    kept: list[CommonTable] = []
    for table in tree.common_tables:
        columns = table.columns if isinstance(table, ListedTable) else ()
        query = _read(table.query, known)
        found = constants_of(query, columns, table.name, known)
        if found is None:
            named = _named(query, columns) if columns else query
            kept.append(CommonTable(table.name, named, table.position))
        else:
            known.tables[table.name] = found
        if len(known.tables) > MOST_TABLES:
            raise refuse(rules.RELATION_COUNT, table.position)
    select = _read(tree.select, known)
    for part in parts((tuple(kept), select)):
        is_plain = isinstance(part, TableName) and part.schema is None
        if is_plain and isinstance(part, TableName) and part.name in known.tables:
            raise refuse(rules.CONSTANT_ROWS, part.position)  # beside no other table
    return replace(tree, common_tables=tuple(kept), select=select)


def _read(tree: _Tree, known: Known) -> _Tree:
    """Return a part of a text that reads no tables of literals."""
    inner = in_brackets(tree)

    def changed(node: object) -> object:
        match node:
            case DerivedTable():
                return _source(node, known)
            case InQuery():
                return _in_list(node, known)
            case Select():
                found = read_constants(node, known, is_inner=node.position in inner)
                Sizes().check(found, node.position)
                return found
            case _:
                return node

    return mapped(tree, changed)


def _source(node: DerivedTable, known: Known) -> DerivedTable:
    """Return a derived table whose columns are named within it, or its literals."""
    found = constants_in(node, known)
    if found is not None:  # computed once, not wherever it is looked at
        rows = ConstantRows((), node.query.position, found.rows)
        return ListedSource(rows, node.alias, node.position, columns=found.columns)
    if not isinstance(node, ListedSource):
        return node
    return DerivedTable(_named(node.query, node.columns), node.alias, node.position)


def _in_list(node: InQuery, known: Known) -> InQuery | InList:
    """Return ``code IN (SELECT code FROM codes)`` as a list, of literal codes."""
    found = constants_of(node.query, (), "", known)
    if found is None or len(found.columns) != 1:
        return node
    items = tuple(row[0] for row in found.rows)
    return InList(node.value, items, node.negated, node.position)


def _named(query: _Query, columns: tuple[str, ...]) -> _Query:
    """Return a query whose columns have the names that a list gives them.

    Raises:
        SqlNotAllowedError: Rule ``column_list``: it has others, or more.
    """
    if isinstance(query, SetOperation) and query.sides is not None:
        left, right = query.sides
        return replace(query, sides=(_named(left, columns), right))
    if isinstance(query, UnionAll):
        if isinstance(query, ConstantRows | Series):
            return query
        first, *others = query.parts
        return replace(query, parts=(_renamed(first, columns), *others))
    return _renamed(query, columns)


def _is_starred(select: Select) -> bool:
    return any(isinstance(item.expression, Star) for item in select.items)


def _renamed(select: Select, columns: tuple[str, ...]) -> Select:
    """Return a SELECT with other aliases, where its clauses speak of them too.

    Raises:
        SqlNotAllowedError: Rule ``column_list``: it has others, or more.
    """
    if len(columns) != len(select.items) or _is_starred(select):
        raise refuse(rules.COLUMN_LIST, select.position)
    pairs = list(zip(select.items, columns, strict=True))
    titles = {item.alias: name for item, name in pairs if item.alias is not None}

    def changed(node: Name | Select) -> object:
        if isinstance(node, Select) or node.qualifier is not None:
            return node
        return replace(node, name=titles.get(node.name, node.name))

    clauses = (select.group_by, select.having, select.order_by)
    keys, having, order = outermost(clauses, (Name, Select), changed)
    items = tuple(replace(item, alias=name) for item, name in pairs)
    return replace(select, items=items, group_by=keys, having=having, order_by=order)
