"""UNION, INTERSECT and EXCEPT of unit keys: different rows, by IN and SELECT DISTINCT.

A unit key is never NULL, so that ``IN`` and ``NOT IN`` are what a set's member is.
"""

from collections.abc import Sequence
from dataclasses import replace

from query_lang.rewriting.trees import output_of, plain_select
from query_lang.syntax import rules
from query_lang.syntax.idioms import SetOperation
from query_lang.syntax.nodes import (
    And,
    DerivedTable,
    Expression,
    InQuery,
    Name,
    Position,
    Select,
    SelectItem,
    UnionAll,
)
from query_lang.syntax.refusals import refuse


def named_parts(parts: Sequence[Select]) -> tuple[Select, ...]:
    """Name what has no name after the first part, whose names are those of all."""
    first, *others = parts
    names = [output_of(item) for item in first.items]
    return (first, *(_named_as(each, names) for each in others))


def _named_as(part: Select, names: Sequence[str | None]) -> Select:
    if len(part.items) != len(names):
        return part  # refused by binding
    items = tuple(
        item if output_of(item) else replace(item, alias=name)
        for item, name in zip(part.items, names, strict=True)
    )
    return replace(part, items=items)


def set_operation(tree: SetOperation) -> Select:
    """Rewrite ``a UNION b``, ``a INTERSECT b``, ``a EXCEPT b``.

    Raises:
        SqlNotAllowedError: A column has no name, or INTERSECT or EXCEPT has several.
    """
    if tree.sides is None:
        raise TypeError
    left, right = tree.sides
    items = _first(left).items
    names = [name for item in items if (name := output_of(item)) is not None]
    if len(names) < len(items):
        raise refuse(rules.NAME_NEEDED, tree.position)
    if tree.word == "UNION":
        parts = named_parts((*_parts(left), *_parts(right)))
        return _different(UnionAll(parts, tree.position), names)
    if len(names) != 1:
        raise refuse(
            rules.SET_OPERATION,
            tree.position,
            detail="INTERSECT and EXCEPT compare unit keys alone",
            hint="WHERE [NOT] EXISTS (SELECT * FROM b WHERE b.patient_id = "
            "a.patient_id AND b.code = a.code)",
        )
    negated = tree.word == "EXCEPT"
    if isinstance(left, Select) and not left.group_by and left.having is None:
        key = left.items[0].expression
        kept = _held(left.where, InQuery(key, right, negated, key.position))
        return replace(left, distinct=True, where=kept)
    found = _different(left, names)
    key = found.items[0].expression
    return replace(found, where=InQuery(key, right, negated, tree.position))


def _held(where: Expression | None, more: Expression) -> Expression:
    return more if where is None else And((where, more), more.position)


def _different(query: Select | UnionAll, names: list[str]) -> Select:
    """Return the different rows of a query."""
    position = query.position
    items = tuple(_item(name, position) for name in names)
    found = plain_select(items, DerivedTable(query, "combined", position))
    return replace(found, distinct=True)


def _item(name: str, position: Position) -> SelectItem:
    return SelectItem(Name(name, None, position), None, position)


def _first(query: Select | UnionAll) -> Select:
    return query if isinstance(query, Select) else query.parts[0]


def _parts(query: Select | UnionAll) -> tuple[Select, ...]:
    return (query,) if isinstance(query, Select) else query.parts
