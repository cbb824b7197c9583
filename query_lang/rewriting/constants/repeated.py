"""Rows that may meet several rows of literals: read once for each of these."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Final, TypeVar

from query_lang.rewriting.constants.folding import folded
from query_lang.rewriting.constants.rows import Constants, Row
from query_lang.rewriting.constants.scopes import (
    check_own,
    check_sources,
    tables_of,
)
from query_lang.rewriting.constants.written import (
    UNTOUCHED,
    refuse_stars,
    with_values,
)
from query_lang.rewriting.trees import (
    all_of,
    called,
    conjuncts,
    names_in,
    new_name,
    outermost,
    output_of,
    plain_select,
    with_fields,
)
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    DerivedTable,
    Expression,
    Name,
    OrderItem,
    Select,
    SelectItem,
    UnionAll,
)
from query_lang.syntax.refusals import refuse

_Part = TypeVar("_Part")

MOST_TIMES: Final = 24
"""Times that rows are read, once for each row in the text: each reads the table."""

Several = Sequence[tuple[str, Constants, tuple[Expression, ...]]]
"""Tables of literals: what FROM called each, its rows, and what is said of these."""


def repeated(select: Select, tables: Several) -> Select:
    """Return a SELECT over a UNION ALL that has a part for each row of literals.

    Rows of several tables stand beside each other: each pair of them is one row.

    Args:
        select: Without the tables.
        tables: Of literals.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``: they have too many rows; rule
            ``ambiguous_name``: a table in brackets is called like one of FROM.
    """
    times = prod(len(table.rows) for _, table, _ in tables)
    if times > MOST_TIMES:
        detail = (
            f"rows that can meet several of those in the text are read once for each: "
            f"{MOST_TIMES} at most, not {times}"
        )
        raise refuse(rules.CONSTANT_ROWS, select.position, detail=detail)
    refuse_stars(select)
    for name, table, _ in tables:
        check_sources(select, name, {*table.columns})
    outer = _Outer(select, {name: table.columns for name, table, _ in tables})
    found = outer.over_all()
    read = tuple(
        _part(select, outer, tables, rows)
        for rows in product(*(table.rows for _, table, _ in tables))
    )
    source = DerivedTable(
        UnionAll(read, select.position), outer.called, select.position
    )
    return replace(found, source=source, joins=(), where=None, alone=())


def _part(
    select: Select, outer: "_Outer", tables: Several, rows: Sequence[Row]
) -> Select:
    """Return the rows that meet a row of each table, with these beside them."""
    values = {
        name: dict(zip(table.columns, row, strict=True))
        for (name, table, _), row in zip(tables, rows, strict=True)
    }

    def written(part: _Part) -> _Part:
        for name, own in values.items():
            part = with_values(part, name, own)
        return folded(part)

    own = [
        SelectItem(Name(name, qualifier, select.position), column, select.position)
        for (qualifier, name), column in outer.read.items()
    ]
    own += [
        SelectItem(values[table][name], column, select.position)
        for (table, name), column in outer.literal.items()
    ]
    said = [each for _, _, conditions in tables for each in conditions]
    kept = [written(each) for each in (*said, *conjuncts(select.where))]
    joins = tuple(
        replace(join, condition=written(join.condition)) for join in select.joins
    )
    part = plain_select(tuple(own), select.source)
    return replace(
        part,
        joins=joins,
        where=all_of(kept),
        alone=select.alone,
        gone=select.gone,
        aliases=(*select.aliases, *outer.left),
    )


class _Outer:
    """A SELECT over the rows that are read several times.

    Attributes:
        called: What these rows are called.
        read: What each column of a table is called among them, by its names.
        literal: What each column of literals is called, by its table's name and its.
        left: Names that stay, as aliases of the list: no column of FROM may be called
            so, which would be meant before them.
    """

    def __init__(self, select: Select, tables: Mapping[str, Sequence[str]]) -> None:
        self.read: dict[tuple[str | None, str], str] = {}
        self.literal: dict[tuple[str, str], str] = {}
        self._select, self._tables = select, tables
        columns = [column for each in tables.values() for column in each]
        self._taken = {*names_in(select), *columns}
        self.called = new_name("repeated", self._taken)
        self._own = {called(select.source), *(called(j.source) for j in select.joins)}
        self._titles = {item.alias: item.expression for item in select.items}
        self.left: list[Name] = []

    def over_all(self) -> Select:
        """Return the SELECT with each of its names as these rows have it."""
        select = self._select
        items = tuple(map(self._item, select.items))
        order = tuple(map(self._ordered, select.order_by))
        found = with_fields(select, self._beside_columns, UNTOUCHED | {"where"})
        return replace(found, items=items, order_by=order)

    def _item(self, item: SelectItem) -> SelectItem:
        found = outermost(item, (Name, Select), self._renamed)
        return replace(found, alias=output_of(item))

    def _ordered(self, item: OrderItem) -> OrderItem:
        return replace(item, expression=self._beside_titles(item.expression))

    def _beside_titles(self, part: _Part) -> _Part:
        """Rename what stands where aliases of the list are meant first: they stay."""

        def changed(node: Name | Select) -> object:
            is_title = isinstance(node, Name) and self._is_title(node)
            return node if is_title else self._renamed(node)

        return outermost(part, (Name, Select), changed)

    def _beside_columns(self, part: _Part) -> _Part:
        """Rename what stands where a column is meant first, and then an alias."""

        def changed(node: Name | Select) -> object:
            if not isinstance(node, Name) or not self._is_title(node):
                return self._renamed(node)
            item = self._titles[node.name]
            if not isinstance(item, Name) or item.name != node.name:
                if self._table(node) is not None:
                    return self._renamed(node)
                self.left.append(node)
            return node  # what the list calls so is that column, or there is none

        return outermost(part, (Name, Select), changed)

    def _is_title(self, node: Name) -> bool:
        return node.qualifier is None and node.name in self._titles

    def _renamed(self, node: Name | Select) -> object:
        if isinstance(node, Select):
            check_own(node, self._own | {*self._tables}, tables_of(node))
            return outermost(node, (Name,), self._of_outside)
        table = self._table(node)
        if table is not None:
            own = (table, node.name)
            column = self.literal.get(own) or self._new(node.name)
            self.literal[own] = column
        else:
            key = (node.qualifier, node.name)
            column = self.read.get(key) or self._new(node.name)
            self.read[key] = column
        return Name(column, self.called, node.position)

    def _of_outside(self, node: Name) -> Name:
        if node.qualifier in self._own | {*self._tables}:
            found = self._renamed(node)
            return found if isinstance(found, Name) else node
        return node

    def _table(self, node: Name) -> str | None:
        """Return which table of literals a name is a column of, if of one."""
        for name, columns in self._tables.items():
            if node.qualifier in {None, name} and node.name in columns:
                return name
        return None

    def _new(self, name: str) -> str:
        used = {*self.read.values(), *self.literal.values()}
        return new_name(name, self._taken) if name in used else name
