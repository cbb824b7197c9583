"""A query over an aggregated one is one query: its columns are written out.

``SELECT yr, n, n - LAG(n) OVER (ORDER BY yr) FROM (SELECT year AS yr, COUNT(*) AS n ...
GROUP BY 1) AS y`` counts once and computes of what it counted. A query at the top that
neither groups nor aggregates has no other meaning, since it would show rows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from query_lang.rewriting.trees import (
    Sizes,
    aggregates,
    is_aggregate,
    mapped,
    output_of,
    parts,
    selected,
)
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    And,
    CommonTable,
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
from query_lang.syntax.refusals import refuse

MOST_LAYERS: Final = 32
"""Queries that are read through each other, as many as a query may read tables."""

_Tables = tuple[CommonTable, ...]
_Columns = Mapping[str, Expression]


def with_one_aggregate(tree: Query) -> Query:
    """Return a query whose top is the SELECT that aggregates, where one below does."""
    aliases = list(tree.select.aliases)
    named = {table.name for table in tree.common_tables}
    if len(named) < len(tree.common_tables):
        return tree  # two of one name, which are refused
    select = _flat(tree.select, tree.common_tables, aliases)
    if select is tree.select:
        return tree
    select = replace(select, aliases=(*select.aliases, *aliases))
    return Query(_named(tree.common_tables, select), select)


def _flat(
    select: Select, tables: _Tables, aliases: list[Name], depth: int = 1
) -> Select:
    """Return a SELECT that aggregates; the same where it reads none that does.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``: written out it is too long; or
            ``relation_count``: it is of too many.
    """
    if depth > MOST_LAYERS:
        raise refuse(rules.RELATION_COUNT, select.position)
    below, seen = _source(select, tables)
    if below is None or _keeps_apart(select):
        return select
    below = _flat(below, seen, aliases, depth + 1)
    if not aggregates(below) or below.distinct:
        return select
    joined = _joined(select, below, aliases)
    if joined is None:
        return select
    Sizes().check(joined, joined.position)
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
    """Whether a SELECT has a meaning of its own: what it counts are rows below."""
    counted = (select.where, *(item.expression for item in select.order_by))
    found = any(is_aggregate(tree) for tree in counted if tree is not None)
    return found or aggregates(select) or select.distinct or select.having is not None


def _joined(above: Select, below: Select, aliases: list[Name]) -> Select | None:
    """Return both as one, or None where a name or a condition has no meaning so."""
    columns = _columns(below)
    own = _Aliases(below, aliases)
    if columns is None or not own.has_places():
        return None  # refused where it stands
    reader = _Reader(above.source, columns)
    read = _read(above, below, reader)
    windows = _windows(item.expression for item in below.items)
    # WHERE chooses rows before a window above is over them, and after one below was.
    is_after = bool(windows) or below.kept is not None
    chooses = below.kept is not None or (is_after and above.where is not None)
    is_lost = reader.is_lost or _windows([above.where])
    if is_lost or (chooses and _has_windows(above)) or any(map(own.speak_in, windows)):
        return None
    shown = read.shown()
    keys = _as_columns([own.key(key) for key in below.group_by], below, shown)
    having = _as_columns(own.conditions(below.having), below, shown)
    earlier = _as_columns(own.conditions(below.kept), below, shown)
    if keys is None or having is None or earlier is None:
        return None
    where = read.where
    return replace(
        below,
        items=read.items,
        group_by=keys,
        having=_all((*having, None if is_after else where)),
        order_by=read.order_by,
        limit=above.limit,
        position=above.position,
        kept=_all((*earlier, where if is_after else None, read.kept)),
    )


def _columns(select: Select) -> _Columns | None:
    """Return what each named item of a list is; None where two have one name."""
    named = [
        (name, item.expression)
        for item in select.items
        if (name := output_of(item)) is not None
    ]
    columns = dict(named)
    return columns if len(columns) == len(named) else None


@dataclass(frozen=True, slots=True)
class _Read:
    """What stands above, written out."""

    items: tuple[SelectItem, ...]
    where: Expression | None
    order_by: tuple[OrderItem, ...] = ()
    kept: Expression | None = None

    def shown(self) -> dict[str, Expression]:
        """Return what each name of the list is."""
        named = (item for item in self.items if item.alias is not None)
        return {str(item.alias): item.expression for item in named}


def _read(above: Select, below: Select, reader: "_Reader") -> _Read:
    where = None if above.where is None else reader.read(above.where)
    read = _Read(_items(above, below, reader), where)
    shown = read.shown()
    return replace(
        read,
        order_by=tuple(reader.ordered(item, shown) for item in above.order_by),
        kept=None if above.kept is None else reader.qualified(above.kept, shown),
    )


def _has_windows(select: Select) -> bool:
    """Whether a SELECT has windows of its own."""
    items = [item.expression for item in select.items]
    ordered = [item.expression for item in select.order_by]
    return bool(_windows((*items, *ordered, select.kept)))


def _as_columns(
    trees: Iterable[Expression], select: Select, shown: Mapping[str, Expression]
) -> tuple[Expression, ...] | None:
    """Return expressions whose names are not taken for aliases of the list above.

    What is left of names is a column, or misspelt: it gets the name of its table. None
    where that is one of several.
    """
    source = select.source
    table = source.alias or (source.name if isinstance(source, TableName) else None)
    is_lost = False

    def written(node: object) -> object:
        nonlocal is_lost
        if not isinstance(node, Name) or node.qualifier is not None:
            return node
        above = shown.get(node.name)
        if above is None or (isinstance(above, Name) and above.name == node.name):
            return node
        is_lost = is_lost or table is None or bool(select.joins)
        return replace(node, qualifier=table)

    found = tuple(mapped(tree, written) for tree in trees)
    return None if is_lost else found


class _Aliases:
    """Writes out the aliases of a SELECT list, which is another one now.

    Where a column of the table has the same name, it was meant: binding refuses those
    that were taken for aliases and are columns.
    """

    def __init__(self, select: Select, taken: list[Name]) -> None:
        self._select = select
        self._meant = {
            item.alias: item.expression
            for item in reversed(select.items)
            if item.alias is not None and not _is_of_itself(item)
        }
        self._taken = taken

    def key(self, key: Expression) -> Expression:
        """Return a key of GROUP BY: an expression, an alias, or a place."""
        if isinstance(key, NumberLiteral):
            return self._select.items[int(key.text) - 1].expression
        return self.written(key) if isinstance(key, Name) else key

    def has_places(self) -> bool:
        """Whether every place that GROUP BY names is one of the list's."""
        known = {str(place + 1) for place in range(len(self._select.items))}
        places = [k for k in self._select.group_by if isinstance(k, NumberLiteral)]
        return all(place.text in known for place in places)

    def written(self, tree: Expression) -> Expression:
        """Return HAVING, or a name, without aliases."""
        return mapped(tree, self._written)

    def conditions(self, tree: Expression | None) -> list[Expression]:
        """Return HAVING or QUALIFY without aliases, if there is one."""
        return [] if tree is None else [self.written(tree)]

    def speak_in(self, window: WindowCall) -> bool:
        """Whether a window speaks of aliases."""
        return any(self._is_alias(part) for part in parts(window))

    def _is_alias(self, part: object) -> TypeGuard[Name]:
        if not isinstance(part, Name):
            return False
        return part.qualifier is None and part.name in self._meant

    def _written(self, node: object) -> object:
        if not self._is_alias(node):
            return node
        self._taken.append(node)
        return self._meant[node.name]


def _is_of_itself(item: SelectItem) -> bool:
    """Whether a column has the alias as its name, for the item is made of it."""
    return any(isinstance(p, Name) and p.name == item.alias for p in parts(item))


def _items(above: Select, below: Select, reader: "_Reader") -> tuple[SelectItem, ...]:
    items: list[SelectItem] = []
    for item in above.items:
        if isinstance(item.expression, Star):
            items += _starred(item.expression, below, reader)
            continue
        meant = reader.read(item.expression)
        items.append(SelectItem(meant, output_of(item), item.position))
    return tuple(items)


def _starred(star: Star, below: Select, reader: "_Reader") -> tuple[SelectItem, ...]:
    """Return the items that a ``*`` stands for."""
    names = {output_of(item) for item in below.items}
    if not reader.knows(star.qualifier) or not names.issuperset(star.without):
        return reader.lose()
    return tuple(i for i in below.items if output_of(i) not in star.without)


def _all(trees: Iterable[Expression | None]) -> Expression | None:
    """Return what holds where all of these do; None where there is nothing."""
    found = tuple(tree for tree in trees if tree is not None)
    if len(found) < 2:  # noqa: PLR2004 - one is itself
        return found[0] if found else None
    return And(found, found[-1].position)


def _windows(trees: Iterable[Expression | None]) -> list[WindowCall]:
    """Return the windows that stand in no other."""
    found = (part for tree in trees for part in parts(tree, (WindowCall,)))
    return [part for part in found if isinstance(part, WindowCall)]


class _Reader:
    """Writes out what the columns of the query below are."""

    def __init__(self, source: TableName | DerivedTable, columns: _Columns) -> None:
        self._known = {None, source.alias}
        if isinstance(source, TableName) and source.alias is None:
            self._known.add(source.name)
        self._columns = columns
        self.is_lost = False

    def knows(self, qualifier: str | None) -> bool:
        """Whether the table below is called so."""
        return qualifier in self._known

    def lose(self) -> tuple[SelectItem, ...]:
        """Note that something has no meaning here."""
        self.is_lost = True
        return ()

    def read(self, tree: Expression) -> Expression:
        """Return an expression of the columns as one of what they are."""
        return mapped(tree, self._written)

    def qualified(self, tree: Expression, shown: _Columns) -> Expression:
        """Return QUALIFY written out: a name is a column, or what is selected."""

        def written(node: object) -> object:
            if not isinstance(node, Name) or node.qualifier is not None:
                return self._written(node)
            meant = shown.get(node.name)
            if meant is None or meant == self._columns.get(node.name):
                return self._written(node)
            self.is_lost = self.is_lost or node.name in self._columns
            return meant

        return mapped(tree, written)

    def ordered(self, item: OrderItem, shown: _Columns) -> OrderItem:
        """Return an item of ORDER BY written out; a name is first what is selected."""
        tree = item.expression
        if isinstance(tree, NumberLiteral):  # a place in the list, which is the same
            return item
        found = selected(tree, shown)
        if found is not None:
            return replace(item, expression=found)
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
