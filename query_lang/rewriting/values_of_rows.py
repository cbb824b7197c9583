"""A value in brackets that belongs to each row, as a join that brings it.

``(SELECT COUNT(*) FROM labs AS l WHERE l.patient_id = e.patient_id)`` is a column of a
LEFT JOIN with a roll-up by what ties both; ``(SELECT l.value ... ORDER BY l.taken DESC
LIMIT 1)`` is one of a LEFT JOIN LATERAL. So no row is doubled or lost.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from query_lang.rewriting.correlated import outside, paired, reads_outside
from query_lang.rewriting.trees import (
    all_of,
    called,
    conjuncts,
    names_in,
    new_name,
    outermost,
    parts,
    wording,
)
from query_lang.syntax.idioms import ScalarQuery
from query_lang.syntax.nodes import (
    AggregateCall,
    Comparison,
    CountRows,
    DerivedTable,
    Expression,
    FunctionCall,
    Join,
    Name,
    NumberLiteral,
    Select,
    SelectItem,
    Star,
    TableName,
)

_AGGREGATES = (AggregateCall, CountRows)


@dataclass(frozen=True, slots=True)
class _Brought:
    """A join, and the value that it brings."""

    join: Join
    value: Expression


def with_values_of_rows(select: Select) -> Select:
    """Return a SELECT in which joins bring what was written in brackets.

    What has another form stays, and is refused where it has no meaning.
    """
    shown = (select.items, select.where, select.group_by, select.order_by)
    found = [p for p in parts(shown, (Select,)) if isinstance(p, ScalarQuery)]
    if not found:
        return select
    around = {called(select.source), *(called(join.source) for join in select.joins)}
    taken, brought = set(names_in(select)), dict[Hashable, _Brought | None]()
    values: dict[int, Expression] = {}
    for each in found:
        said = wording(each, "")
        if said not in brought:
            brought[said] = _brought(each, around, taken)
        one = brought[said]
        if one is not None:
            values[id(each)] = one.value
    joins = tuple(one.join for one in brought.values() if one is not None)
    items = _starred(select)
    if not joins or items is None:
        return select

    def changed(node: ScalarQuery) -> Expression:
        return values.get(id(node), node)

    return replace(
        select,
        items=outermost(items, (ScalarQuery,), changed),
        where=outermost(select.where, (ScalarQuery,), changed),
        group_by=outermost(select.group_by, (ScalarQuery,), changed),
        order_by=outermost(select.order_by, (ScalarQuery,), changed),
        joins=(*select.joins, *joins),
    )


def _starred(select: Select) -> tuple[SelectItem, ...] | None:
    """Return a list whose ``*`` names the tables of FROM; None where it cannot."""
    merges = any(join.using or join.is_natural for join in select.joins)
    tables = [called(s) for s in (select.source, *(j.source for j in select.joins))]
    items: list[SelectItem] = []
    for item in select.items:
        star = item.expression
        if not isinstance(star, Star) or star.qualifier is not None:
            items.append(item)
            continue
        if merges or star.without:
            return None
        each = [replace(star, qualifier=table) for table in tables]
        items += [replace(item, expression=one) for one in each]
    return tuple(items)


def _brought(tree: ScalarQuery, around: set[str], taken: set[str]) -> _Brought | None:
    """Return the join that stands for a subquery; None if there is none."""
    query, position = tree.query, tree.position
    if not isinstance(query, Select) or not _is_of_each_row(query):
        return None
    name = new_name(f"each_{position.line}_{position.column}", taken)
    if query.order_by or query.limit is not None:
        return _first(query, name)
    if isinstance(query.items[0].expression, Name):
        return _looked_up(query, name)
    return _rolled_up(query, name, around) or _met(query, name, around)


def _is_of_each_row(query: Select) -> bool:
    strange = (query.distinct, query.group_by, query.having, query.sets, query.kept)
    is_one = type(query) is Select and len(query.items) == 1
    return is_one and not any(strange) and reads_outside(query)


def _first(query: Select, name: str) -> _Brought | None:
    """Return a join with the first row of an order."""
    (item,) = query.items
    limit, position = query.limit, query.position
    if any(isinstance(p, _AGGREGATES) for p in parts(item.expression, (Select,))):
        return None
    if not query.order_by or limit != 1:
        return None
    brought = new_name("brought", set(names_in(query)))

    def meant(name: Name) -> Expression:
        own = name.qualifier is None and name.name == item.alias
        return item.expression if own else name

    order = outermost(query.order_by, (Name,), meant)
    named = replace(query, items=(replace(item, alias=brought),), order_by=order)
    table = DerivedTable(named, name, position)
    join = Join("left", table, None, (), position, is_of_first=True)
    return _Brought(join, Name(brought, name, position))


def _looked_up(query: Select, name: str) -> _Brought | None:
    """Return a join with a table of which one row at most belongs to each.

    Which tables tell: binding refuses others.
    """
    source, (item,) = query.source, query.items
    nested = any(isinstance(part, Select) for part in parts(query.where))
    if not isinstance(source, TableName) or query.joins or nested:
        return None
    own = {None, called(source)}

    def renamed(column: Name) -> Name:
        return replace(column, qualifier=name) if column.qualifier in own else column

    where = outermost(query.where, (Name,), renamed)
    table = replace(source, alias=name)
    join = Join("left", table, where, (), query.position, is_of_one=True)
    return _Brought(join, outermost(item.expression, (Name,), renamed))


def _rolled_up(query: Select, name: str, around: set[str]) -> _Brought | None:
    """Return a join with aggregates of the rows that WHERE ties to one outside."""
    (item,) = query.items
    ties, rest = _ties(query, around)
    inner = replace(query, where=all_of(rest))
    found = _aggregates(item.expression)
    if not ties or not found or reads_outside(inner):
        return None
    position = query.position
    taken = set(names_in(query))
    keys = [(new_name("tie", taken), *tie) for tie in ties]
    listed = [SelectItem(own, key, position) for key, own, _ in keys]
    columns: dict[int, Expression] = {}
    for aggregate in found:
        column = new_name("brought", taken)
        listed.append(SelectItem(aggregate, column, position))
        brought = Name(column, name, aggregate.position)
        columns[id(aggregate)] = _of_nothing(aggregate, brought)
    rolled = replace(
        inner,
        items=tuple(listed),
        group_by=tuple(own for own, _ in ties),
        is_of_rows=True,
    )
    equal = [
        Comparison("=", Name(key, name, position), outer, position)
        for key, _, outer in keys
    ]
    table = DerivedTable(rolled, name, position)
    join = Join("left", table, all_of(equal), (), position)
    value = outermost(item.expression, _AGGREGATES, lambda one: columns[id(one)])
    return _Brought(join, value)


def _met(query: Select, name: str, around: set[str]) -> _Brought | None:
    """Return a join with aggregates of the rows that WHERE pairs with one outside.

    Where it compares both rows otherwise than by equalities of columns: LATERAL, which
    has one row for each.
    """
    (item,) = query.items
    found, position = _aggregates(item.expression), query.position
    ties, _ = _ties(query, around)
    shown = replace(query, where=None)
    nested = any(isinstance(part, Select) for part in parts(query.where))
    plain = isinstance(query.source, TableName) and not query.joins and not nested
    if not ties or not found or not plain or reads_outside(shown):
        return None
    if any(isinstance(one, AggregateCall) and one.distinct for one in found):
        return None
    taken = set(names_in(query))
    named = [(new_name("brought", taken), one) for one in found]
    listed = tuple(SelectItem(one, column, position) for column, one in named)
    table = DerivedTable(replace(query, items=listed), name, position)
    join = Join("left", table, None, (), position, is_of_first=True)
    columns = {id(one): Name(column, name, one.position) for column, one in named}
    value = outermost(item.expression, _AGGREGATES, lambda one: columns[id(one)])
    return _Brought(join, value)


def _aggregates(tree: Expression) -> list[AggregateCall | CountRows]:
    """Return the aggregates of a value that is made of them alone, else none."""
    found = [
        p for p in parts(tree, (*_AGGREGATES, Select)) if isinstance(p, _AGGREGATES)
    ]
    others = parts(tree, (*_AGGREGATES, Select))
    is_plain = not any(isinstance(p, Name | Select) for p in others)
    return found if is_plain else []


def _of_nothing(aggregate: AggregateCall | CountRows, value: Expression) -> Expression:
    """Return an aggregate's column, where no row may be: a count is 0 then."""
    if not isinstance(aggregate, CountRows) and aggregate.name != "count":
        return value
    position = aggregate.position
    zero = NumberLiteral("0", position)
    return FunctionCall("coalesce", (value, zero), position)


def _ties(
    query: Select, around: set[str]
) -> tuple[list[tuple[Name, Name]], list[Expression]]:
    """Part WHERE into equalities of a column within and one around, and the rest."""
    without = outside(query)
    ties: list[tuple[Name, Name]] = []
    rest: list[Expression] = []
    for part in conjuncts(query.where):
        tie = _tie(part, without & around)
        if tie is None:
            rest.append(part)
        else:
            ties.append(tie)
    return ties, rest


def _tie(tree: Expression, around: set[str]) -> tuple[Name, Name] | None:
    if not isinstance(tree, Comparison) or tree.operator != "=":
        return None
    return paired(tree, around)
