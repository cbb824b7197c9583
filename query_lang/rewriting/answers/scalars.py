"""Aggregates of other tables in brackets: ``(SELECT COUNT(*) FROM a) / (SELECT ...)``.

All are aggregates of one UNION ALL, each of the rows that its part gave.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeGuard, TypeVar

from query_lang.rewriting.answers.arguments import (
    AGGREGATES,
    Arguments,
    evened,
    is_plain,
    of_units,
)
from query_lang.rewriting.calls import filtered
from query_lang.rewriting.totals.grouping_sets import has_sets
from query_lang.rewriting.trees import (
    called,
    is_aggregate,
    names_in,
    new_name,
    outermost,
    output_of,
    parts,
    plain_select,
    wording,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    Filtered,
    FirstRowJoin,
    NoTable,
    OtherCall,
    QuantileAt,
    ScalarQuery,
    WithinGroup,
    WrittenJoin,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    BooleanLiteral,
    CommonTable,
    Comparison,
    DerivedTable,
    Expression,
    Join,
    Name,
    NumberLiteral,
    Query,
    Select,
    SelectItem,
    StringLiteral,
    TableName,
    UnionAll,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

_Tree = TypeVar("_Tree")
_OTHER_AGGREGATES = (OtherCall, WithinGroup, QuantileAt)


# -- tables of one row -----------------------------------------------------------


def with_totals_in_brackets(tree: Query) -> Query:
    """Return a query whose top reads no table of one row: its columns are in brackets.

    ``FROM n CROSS JOIN d``, where WITH says what both count, is ``(SELECT ...)`` twice.
    """
    select = tree.select
    found: dict[str, Select] = {}
    queries = {table.name: table.query for table in tree.common_tables}
    sources = [select.source, *(join.source for join in select.joins)]
    ties = [None, *select.joins]
    for source, join in zip(sources, ties, strict=True):
        query = _query_of(source, queries)
        if (join is None or _says_nothing(join)) and _is_of_one_row(query):
            found[called(source)] = query
    rest = [j for j in select.joins if called(j.source) not in found]
    if len(found) == len(sources) and any(
        is_aggregate(i.expression) for i in select.items
    ):
        return tree  # aggregates of that one row
    if not found or not all(map(_is_untied, rest[:1])):
        return tree
    if called(select.source) not in found:
        source = select.source
    elif rest:
        source, rest = rest[0].source, rest[1:]
    else:
        source = NoTable("", None, select.position)

    items = tuple(_bracketed(item, found) for item in _named_apart(select.items))
    aliases = frozenset(filter(None, (item.alias for item in select.items)))
    top = replace(
        select,
        items=items,
        source=source,
        joins=tuple(rest),
        where=_filled(select.where, found),
        group_by=_without_totals(select, found),
        having=_filled(select.having, found, aliases),
        order_by=_filled(select.order_by, found, aliases),
    )
    if select.group_by:  # no group is without a row, which tells the total
        shown = _of_one_value((top.items, top.having, top.order_by))
        items, having, order_by = shown
        top = replace(top, items=items, having=having, order_by=order_by)
    return replace(tree, select=top)


def _without_totals(
    select: Select, found: Mapping[str, Select]
) -> tuple[Expression, ...]:
    """Return the keys of GROUP BY without totals, which all groups have in common.

    Those alone stay, and are refused: they are keys of one group.
    """
    items = select.items
    if has_sets(select):
        return select.group_by

    def is_total(key: Expression) -> bool:
        if isinstance(key, NumberLiteral) and key.text.isdecimal():
            at = int(key.text[:_DIGITS]) - 1
            return at in range(len(items)) and is_total(items[at].expression)
        return isinstance(key, Name) and _filled(key, found) is not key

    kept = tuple(key for key in select.group_by if not is_total(key))
    return kept or select.group_by


_DIGITS = 4  # of the place of an item


def _named_apart(items: tuple[SelectItem, ...]) -> tuple[SelectItem, ...]:
    """Name columns of two tables by their tables: ``n.k, d.k`` are n_k and d_k."""
    names = Counter(output_of(item) for item in items)
    return tuple(
        replace(item, alias=f"{item.expression.qualifier}_{item.expression.name}")
        if isinstance(item.expression, Name)
        and item.expression.qualifier
        and names[output_of(item)] > 1
        else item
        for item in items
    )


def _bracketed(item: SelectItem, found: Mapping[str, Select]) -> SelectItem:
    return replace(_filled(item, found), alias=output_of(item))


def _filled(
    tree: _Tree, found: Mapping[str, Select], aliases: AbstractSet[str] = frozenset()
) -> _Tree:
    """Return a tree with a total in brackets for each column of a table of one row.

    Args:
        tree: Of the query's own clauses.
        found: The tables of one row, by their names.
        aliases: Names that mean what the SELECT list calls so.
    """

    def changed(node: Name | Select) -> object:
        if isinstance(node, Select):
            return node
        if node.qualifier is None and node.name in aliases:
            return node
        for name, query in found.items():
            for own in query.items:
                if node.qualifier in {None, name} and output_of(own) == node.name:
                    return ScalarQuery(node.position, replace(query, items=(own,)))
        return node

    return outermost(tree, (Name, Select), changed)


def _of_one_value(tree: _Tree) -> _Tree:
    """Return a tree in which the greatest, least or mean of one total is that total."""

    def changed(node: Expression) -> Expression:
        if not isinstance(node, AggregateCall) or node.distinct or node.order_by:
            return node
        total = node.arguments[0] if len(node.arguments) == 1 else None
        is_one = node.name in _OF_ONE and isinstance(total, ScalarQuery)
        return total if is_one and total is not None else node

    return outermost(tree, (AggregateCall, Filtered, WindowCall, Select), changed)


_OF_ONE = frozenset({"max", "min", "avg"})


def _query_of(
    source: TableName | DerivedTable, queries: Mapping[str, Select | UnionAll]
) -> Select | UnionAll | None:
    if isinstance(source, DerivedTable):
        return source.query
    return queries.get(source.name) if source.schema is None else None


def _is_of_one_row(query: Select | UnionAll | None) -> TypeGuard[Select]:
    if not isinstance(query, Select) or query.group_by or query.having is not None:
        return False
    kinds = (*AGGREGATES, *_OTHER_AGGREGATES)
    return bool(query.items) and all(
        any(isinstance(part, kinds) for part in parts(item.expression, (Select,)))
        for item in query.items
    )


def _is_untied(join: Join) -> bool:
    return isinstance(join, WrittenJoin) and join.word != "RIGHT"


def _says_nothing(join: Join) -> bool:  # noqa: PLR0911 - an arm a form
    """Whether a join pairs all rows: CROSS JOIN, a comma, ON TRUE, ON 1 = 1."""
    if isinstance(join, FirstRowJoin):
        return False
    if _is_untied(join):
        return True
    match join.condition:
        case BooleanLiteral(True):
            return True
        case Comparison("=", NumberLiteral(one), NumberLiteral(other)):
            return one == other
        case _:
            return False


# -- aggregates of several tables ------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Counted:
    """A SELECT of aggregates without groups, its own table's or one in brackets."""

    select: Select
    computed: tuple[Expression, ...]
    arguments: Arguments
    word: str

    def of_part(self, tree: Expression, column: str) -> Expression:
        """Return an expression whose aggregates are of this part's rows alone."""

        def changed(node: Expression) -> Expression:
            if not isinstance(node, AGGREGATES):
                return node
            at = node.position
            word = StringLiteral(self.word, at)
            own = Comparison("=", Name(column, None, at), word, at)
            return filtered(Filtered(at, node, own))

        return outermost(tree, AGGREGATES, changed)

    def part(self, column: str) -> Select:
        """Return its rows, and which they are."""
        word = StringLiteral(self.word, self.select.position)
        named = SelectItem(word, column, self.select.position)
        return replace(self.select, items=(named, *self.arguments.items()))


def with_one_table(  # noqa: PLR0911 - an arm a form
    select: Select, tables: Sequence[CommonTable]
) -> Select:
    """Return the SELECT at the top with the totals in its brackets counted beside it.

    Totals of its own table stay, which have a form of their own; so does what has none.
    """
    found = [p for p in parts(select.items, (Select,)) if isinstance(p, ScalarQuery)]
    has_own = not isinstance(select.source, NoTable)
    others = [each for each in found if not (has_own and _reads_same(each, select))]
    if found and not has_own and select.where is not None:
        raise refuse(rules.FROM_CLAUSE, select.where.position, detail=_NO_ROWS)
    if not others or select.group_by or select.having is not None:
        return select
    own = [is_aggregate(_without(item.expression)) for item in select.items]
    if has_own and (not any(own) or not all(map(_is_answer, select.items))):
        return select  # a row of each of the table's
    queries: dict[Hashable, Select] = {}
    for bracket in found:
        if not isinstance(bracket.query, Select) or not _is_total(bracket.query):
            return select
        queries[wording(bracket, "")] = bracket.query
    if not has_own and len({_table(each) for each in queries.values()}) == 1:
        return _of_same_rows(select, next(iter(queries.values())))
    return _of_all_parts(select, queries, tables, has_own=has_own)


_NO_ROWS = "WHERE chooses rows, and beside totals in brackets no table has any"


def _is_answer(item: SelectItem) -> bool:
    """Whether an item of the list is computed of aggregates, own or in brackets."""
    found = parts(item.expression, (Select,))
    return any(isinstance(part, (*AGGREGATES, ScalarQuery)) for part in found)


def _is_total(query: Select) -> bool:
    is_one = len(query.items) == 1 and is_aggregate(query.items[0].expression)
    return is_one and is_plain(query) and not query.group_by


def _table(select: Select) -> Hashable:
    return wording((select.source, select.joins), "")


def _reads_same(bracket: ScalarQuery, around: Select) -> bool:
    query = bracket.query
    if not isinstance(query, Select) or query.joins or around.joins:
        return False
    one, other = query.source, around.source
    if not isinstance(one, TableName) or not isinstance(other, TableName):
        return False
    return (one.name, one.schema) == (other.name, other.schema)


def _of_same_rows(select: Select, first: Select) -> Select:
    """Return aggregates of one table, each of the rows that its WHERE keeps."""

    def filled(bracket: ScalarQuery) -> Expression:
        query = bracket.query
        if not isinstance(query, Select):  # pragma: no cover - looked at before
            return bracket
        kept, tree = query.where, query.items[0].expression
        if kept is None:
            return tree

        def of_kept(node: Expression) -> Expression:
            if not isinstance(node, AGGREGATES):
                return node
            return filtered(Filtered(node.position, node, kept))

        return outermost(tree, AGGREGATES, of_kept)

    items = outermost(select.items, (ScalarQuery,), filled)
    return replace(select, items=items, source=first.source, joins=first.joins)


def _of_all_parts(
    select: Select,
    queries: Mapping[Hashable, Select],
    tables: Sequence[CommonTable],
    *,
    has_own: bool,
) -> Select:
    wholes = dict[Hashable, Select](queries)
    if has_own:
        own = tuple(i for i in select.items if is_aggregate(_without(i.expression)))
        wholes[None] = replace(select, items=own, order_by=(), limit=None)
    counted: dict[Hashable, _Counted] = {}
    for number, (said, query) in enumerate(wholes.items(), start=1):
        plain = of_units(query, tables)
        arguments = Arguments("value")
        shown = tuple(arguments.over(_without(i.expression)) for i in plain.items)
        counted[said] = _Counted(plain, shown, arguments, str(number))
    each = [part.arguments for part in counted.values()]
    if not evened(each, [part.select for part in counted.values()]):
        return select
    column = new_name("part", set(names_in(select)))

    def filled(node: Expression) -> Expression:
        if isinstance(node, ScalarQuery):
            part = counted[wording(node, "")]
            return part.of_part(part.computed[0], column)
        part = counted[None]
        return part.of_part(part.arguments.over(node), column)

    items = outermost(select.items, (ScalarQuery, *AGGREGATES), filled)
    rows = UnionAll(
        tuple(part.part(column) for part in counted.values()), select.position
    )
    source = DerivedTable(rows, f"{column}s", select.position)
    top = plain_select(items, source)
    return replace(
        top,
        order_by=select.order_by,
        limit=select.limit,
        position=select.position,
        aliases=select.aliases,
    )


def _without(tree: Expression) -> Expression:
    """Return an expression without what stands in brackets of its own."""

    def gone(node: ScalarQuery) -> Expression:
        return NumberLiteral("0", node.position)

    return outermost(tree, (ScalarQuery,), gone)
