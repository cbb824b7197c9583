"""Columns of a SELECT written out as what they are, wherever they are read."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from query_lang.rewriting.trees import outermost, output_of, parts, with_fields
from query_lang.syntax import rules
from query_lang.syntax.idioms import WrittenSelect
from query_lang.syntax.nodes import (
    AggregateCall,
    CountRows,
    Expression,
    IsNull,
    Name,
    NumberLiteral,
    OrderItem,
    Select,
    Star,
)
from query_lang.syntax.refusals import refuse

Values = Mapping[str, Expression]
_Tree = TypeVar("_Tree")

_EMPTY = (
    "count a column of what is joined, COUNT(e.encounter_id): COUNT(*) is 1 where "
    "nothing is found"
)
UNTOUCHED = frozenset({"items", "source", "joins", "order_by", "aliases", "position"})
"""Fields of a SELECT that are written out by rules of their own, or not at all."""


def with_columns(select: Select, called: str, values: Values) -> Select:
    """Return a SELECT that reads expressions where it read columns of one table.

    Raises:
        SqlNotAllowedError: It selects ``*``, which would show them.
    """
    refuse_stars(select)
    titles = {item.alias for item in select.items}
    found = with_fields(
        select, lambda part: with_values(part, called, values), UNTOUCHED
    )
    items = tuple(
        replace(with_values(item, called, values), alias=output_of(item))
        for item in select.items
    )
    joins = tuple(
        replace(join, condition=with_values(join.condition, called, values))
        for join in select.joins
    )
    order = tuple(
        item if _is_title(item, titles) else with_values(item, called, values)
        for item in select.order_by
    )
    return replace(found, items=items, joins=joins, order_by=order)


def _is_title(item: OrderItem, titles: set[str | None]) -> bool:
    """Whether ORDER BY names what is selected, as a name alone first does."""
    tree = item.expression
    return isinstance(tree, Name) and tree.qualifier is None and tree.name in titles


def check_empty(select: Select) -> None:
    """Refuse what a literal without a match would count for: no row is there to read.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``.
    """
    for part in parts((select.items, select.having, select.order_by), (Select,)):
        is_one = isinstance(part, AggregateCall) and isinstance(
            part.arguments[0], NumberLiteral
        )
        if is_one or isinstance(part, CountRows | IsNull):
            detail = (
                "a row in the text without a match is a row to COUNT(*) and IS NULL"
            )
            at = getattr(part, "position", select.position)
            raise refuse(rules.CONSTANT_ROWS, at, detail=detail, hint=_EMPTY)
    written = select.groups_by_all if isinstance(select, WrittenSelect) else False
    if not select.group_by and not written:
        detail = "rows in the text that stay without a match are groups of GROUP BY"
        raise refuse(rules.CONSTANT_ROWS, select.position, detail=detail)


def refuse_stars(select: Select) -> None:
    """Refuse ``*`` in a list: it would show columns that the text alone has.

    Raises:
        SqlNotAllowedError: Rule ``star``.
    """
    for item in select.items:
        if isinstance(item.expression, Star):
            detail = "* beside rows in the text would list their columns too"
            raise refuse(
                rules.STAR, item.position, detail=detail, hint="name each column"
            )


def with_values(part: _Tree, called: str, values: Values) -> _Tree:
    """Return a part with a table's columns written out.

    Names alone in subqueries are of tables of their own.
    """

    def changed(node: Name | Select) -> object:
        if isinstance(node, Select):
            return outermost(node, (Name,), qualified)
        is_own = node.qualifier in {None, called}
        return values.get(node.name, node) if is_own else node

    def qualified(node: Name) -> Expression:
        return values.get(node.name, node) if node.qualifier == called else node

    return outermost(part, (Name, Select), changed)
