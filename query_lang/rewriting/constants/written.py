"""Columns of a SELECT written out as what they are, wherever they are read."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from query_lang.rewriting.constants.scopes import (
    check_sources,
    check_written,
    tables_of,
)
from query_lang.rewriting.trees import outermost, output_of, parts, with_fields
from query_lang.syntax import rules
from query_lang.syntax.idioms import NoTable
from query_lang.syntax.nodes import (
    DerivedTable,
    Expression,
    Join,
    Name,
    OrderItem,
    Select,
    Star,
)
from query_lang.syntax.refusals import refuse, unknown_column

Values = Mapping[str, Expression]
_Tree = TypeVar("_Tree")

UNTOUCHED = frozenset(
    {"items", "source", "joins", "order_by", "aliases", "alone", "position"}
)
"""Fields of a SELECT that are written out by rules of their own, or not at all."""


def with_columns(select: Select, called: str | None, values: Values) -> Select:
    """Return a SELECT that reads expressions where it read columns of one table.

    Args:
        select: Without the table.
        called: What FROM called it; None: names that stand alone are meant.
        values: What each of its columns is.

    Raises:
        SqlNotAllowedError: It selects ``*``, which would show them; or what is written
            in brackets would be another column there.
    """
    refuse_stars(select)
    if called is not None:
        check_sources(select, called, values.keys())
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


def alone_in(select: Select, columns: frozenset[str]) -> Iterator[Name]:
    """Yield the names that stand alone and are columns of a table of literals.

    None of them may be a column of another table of FROM: SQL would not know which.
    """
    titles = {item.alias for item in select.items}
    plain = tuple(item for item in select.order_by if not _is_title(item, titles))
    said = (select.where, select.group_by, select.having, plain)
    joins = tuple(join.condition for join in select.joins)
    bodies = (_of_one_row(join) for join in select.joins)
    lists = tuple(body.items for body in bodies if body is not None)
    for part in parts((select.items, said, joins, lists), (Select,)):
        if isinstance(part, Name) and part.qualifier is None and part.name in columns:
            yield part


def _of_one_row(join: Join) -> Select | None:
    """Return what LATERAL computes of the row that it is joined to, if it does."""
    query = join.source.query if isinstance(join.source, DerivedTable) else None
    is_one = isinstance(query, Select) and isinstance(query.source, NoTable)
    return query if is_one and isinstance(query, Select) else None


def _is_title(item: OrderItem, titles: set[str | None]) -> bool:
    """Whether ORDER BY names what is selected, as a name alone first does."""
    tree = item.expression
    return isinstance(tree, Name) and tree.qualifier is None and tree.name in titles


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


def with_values(part: _Tree, called: str | None, values: Values) -> _Tree:
    """Return a part with a table's columns written out.

    Names alone in subqueries are of tables of their own.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``: in a subquery it would be another.
        UnknownColumnError: The table has no such column: one around has the same name.
    """

    def changed(node: Name | Select) -> object:
        if isinstance(node, Select):
            if called is None:
                return node
            check_written(node, called, values.keys(), values)
            has_its_own = called in tables_of(node)
            return outermost(node, (Name,), partial(qualified, known=has_its_own))
        if node.qualifier is None:
            return values.get(node.name, node)
        return qualified(node)

    def qualified(node: Name, *, known: bool = False) -> Expression:
        if called is None or node.qualifier != called:
            return node
        if node.name not in values and not known:
            detail = f"{called} has no column {node.name}"
            raise unknown_column(node.position, detail=detail)
        return values.get(node.name, node)

    return outermost(part, (Name, Select), changed)


def reads_literals(tree: object, name: str, columns: frozenset[str]) -> bool:
    """Whether a part reads a table of literals; in subqueries, by its name alone."""
    outside = {id(part) for part in parts(tree, (Select,))}
    return any(
        isinstance(part, Name)
        and part.name in columns
        and (part.qualifier == name or (part.qualifier is None and id(part) in outside))
        for part in parts(tree)
    )
