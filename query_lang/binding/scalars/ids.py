"""Ids: whether each row has one, and the unit key beside them."""

from collections.abc import Iterable
from typing import Final

from privacy.errors import QueryError
from privacy.schema import ColumnType
from query_lang.binding.environment import Environment
from query_lang.binding.scope import RelationColumn, Scope, ValueColumn
from query_lang.plans.expressions import Call, FieldRef, Function, conjuncts
from query_lang.plans.expressions import Expression as Bound
from query_lang.plans.nodes import Filter, Node
from query_lang.syntax.nodes import Comparison, Expression, Name

_ENDINGS: Final = ("_id", "_no", "_nr", "_number", "_uuid")
_TYPES: Final = frozenset({ColumnType.INTEGER, ColumnType.TEXT})


def add_unit(
    trees: Iterable[Expression],
    scope: Scope,
    environment: Environment,
    clause: str,
    *,
    each: bool | None = False,
) -> str | None:
    """Return the hint that adds the unit key where rows are told apart by an id.

    None where none of the trees is one. What is offered means the same where no two
    units share an id, and each row of a group has one: the hint says so.

    Args:
        trees: That rows are grouped, partitioned, joined or looked up by.
        scope: Of their names.
        environment: Of the query.
        clause: How it is written with the unit key.
        each: Whether it is said that each row has an id; None: where one may have none.
    """
    for tree in trees:
        column = _found(tree, scope)
        if not isinstance(tree, Name) or not isinstance(column, ValueColumn):
            continue
        if column.facts.domain is not None:
            continue
        is_called_so = tree.name == "id" or tree.name.endswith(_ENDINGS)
        if column.facts.type in _TYPES and (column.is_id or is_called_so):
            unit = environment.dataset.unit
            is_told = column.facts.nullable if each is None else each
            more = ", and each row has one" if is_told else ""
            return f"if no two {unit}s share one {tree.name}{more}: {clause}"
    return None


def _found(tree: Expression, scope: Scope) -> RelationColumn | None:
    """Return the column that a tree names; None where it names none, or two."""
    try:
        return scope.find(tree) if isinstance(tree, Name) else None
    except QueryError:
        return None


def named_in(trees: Iterable[Expression]) -> list[Expression]:
    """Return the columns that conditions equate."""
    return [
        side
        for tree in trees
        if isinstance(tree, Comparison) and tree.operator == "="
        for side in (tree.left, tree.right)
        if isinstance(tree.left, Name) and isinstance(tree.right, Name)
    ]


def never_null(node: Node) -> frozenset[int]:
    """Return slots that the conditions on a node's rows say are not NULL.

    Of WHERE and of INNER joins: IS NOT NULL, and comparisons, which are never true of
    NULL.
    """
    found: set[int] = set()
    while isinstance(node, Filter):
        for part in conjuncts(node.condition):
            found |= {each.slot for each in _of_value(part)}
        node = node.child
    return frozenset(found)


def _of_value(part: Bound) -> list[FieldRef]:
    """Return the columns that have a value where a condition is true."""
    match part:
        case Call(Function.NOT, (Call(Function.IS_NULL, (FieldRef() as column,)),)):
            return [column]
        case Call(function, operands) if function in _OF_VALUES:
            return [each for each in operands if isinstance(each, FieldRef)]
        case _:
            return []


_OF_VALUES = frozenset(
    {Function.EQ, Function.NE, Function.LT, Function.LE, Function.GT, Function.GE}
)
