"""Where a literal of a question stands: bound expressions do not know it."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from privacy.errors import QueryError
from privacy.schema import Scalar
from query_lang.plans.expressions import Facts
from query_lang.plans.literals import LITERALS, Literal, typed_value
from query_lang.syntax.nodes import Case, Comparison, InList, Name, Position, Query


def literal_place(
    tree: Query, name: str, value: Scalar, facts: Facts
) -> Position | None:
    """Return where a column is first said to equal a value.

    Args:
        tree: The question as it was written.
        name: Of the column; a function of it may be compared too.
        value: Of the literal.
        facts: Of what is compared with it.

    Returns:
        The literal's place; None where there is no such literal.
    """
    for node in _nodes(tree):
        sides = _equated(node)
        others = [side for side in sides if not isinstance(side, LITERALS)]
        named = {each.name for each in _nodes(others) if isinstance(each, Name)}
        for side in sides if name in named else ():
            if isinstance(side, LITERALS) and _value_of(side, facts) == value:
                return side.position
    return None


def _equated(node: object) -> list[object]:
    """Return what a part of a text says to be equal."""
    match node:
        case Comparison(_, left, right):
            return [left, right]
        case InList(tested, items):
            return [tested, *items]
        case Case(operand, branches) if operand is not None:
            return [operand, *(branch.condition for branch in branches)]
        case _:
            return []


def _value_of(literal: Literal, facts: Facts) -> Scalar | None:
    """Return a literal's value; None where it is of another type."""
    try:
        return typed_value(literal, facts, "")
    except QueryError:
        return None


def _nodes(node: object) -> Iterator[object]:
    """Yield a part of a text and all parts of it, in order."""
    if isinstance(node, tuple | list):
        for item in node:
            yield from _nodes(item)
    elif is_dataclass(node):
        yield node
        for field in fields(node):
            yield from _nodes(getattr(node, field.name))
