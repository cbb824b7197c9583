"""The first of the rows that each row meets: LATERAL and APPLY."""

from collections.abc import Mapping
from dataclasses import replace

from privacy.schema import ColumnType
from query_lang.binding.scope import Relation, RelationColumn, Scope
from query_lang.plans.expressions import (
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
    truth_of,
)
from query_lang.plans.literals import LITERALS
from query_lang.plans.nodes import FrameEnd, Order, WindowItem
from query_lang.rewriting.trees import mapped, parts
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    CountRows,
    DerivedTable,
    Join,
    Name,
    NumberLiteral,
    OrderItem,
    Select,
    Star,
    WindowCall,
)
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

_NO_ROW = (Select, AggregateCall, CountRows, WindowCall)  # what one row does not say
NUMBER = Facts(ColumnType.INTEGER)


def numbering(
    slot: int, partition: tuple[Expression, ...], order: tuple[Order, ...]
) -> WindowItem:
    """Number the rows of a unit within a partition, from 1."""
    start, end = FrameEnd(None), FrameEnd(0)
    return WindowItem(slot, "row_number", None, partition, order, start, end)


def or_null(slot: int, facts: Facts) -> FieldRef:
    """Return a slot of a LEFT join's right side."""
    return FieldRef(slot, replace(facts, nullable=True, constant=False))


def is_first(number: FieldRef) -> Expression:
    """Return the condition that holds a row number to 1."""
    one = Constant(1, replace(NUMBER, nullable=False, constant=True))
    return truth_of(Function.EQ, (number, one))


def first_row_of(join: Join) -> Select:
    """Return the query that LATERAL or APPLY reads, if it is of one first row.

    Raises:
        SqlNotAllowedError: It is another.
    """
    query = join.source.query if isinstance(join.source, DerivedTable) else None
    if not isinstance(query, Select) or query.limit != 1:
        raise refuse(rules.LATERAL_JOIN, join.position)
    strange = (query.joins, query.group_by, query.having, query.distinct, query.kept)
    shown = (query.items, query.order_by, query.where)
    if any(strange) or any(isinstance(part, _NO_ROW) for part in parts(shown)):
        raise refuse(rules.LATERAL_JOIN, join.position)
    return query


def terms_of(
    query: Select, columns: Mapping[str, RelationColumn]
) -> tuple[OrderItem, ...]:
    """Return ORDER BY with what is selected for its names and positions.

    A literal that is selected orders nothing.
    """
    shown = [item.expression for item in query.items]
    named = {item.alias: item.expression for item in query.items if item.alias}
    found: list[OrderItem] = []
    for item in query.order_by:
        tree = item.expression
        if isinstance(tree, NumberLiteral):
            places = {str(place): each for place, each in enumerate(shown, 1)}
            if tree.text not in places or any(isinstance(e, Star) for e in shown):
                raise refuse(rules.ORDER_TERM, item.position)
            tree = places[tree.text]
        elif isinstance(tree, Name) and tree.qualifier is None and tree.name in columns:
            tree = named.get(tree.name, tree)
        if tree is item.expression or not isinstance(tree, LITERALS):
            found.append(replace(item, expression=tree))
    return tuple(found)


def tied_inside(where: Tree, relation: Relation, scope: Scope) -> Tree:
    """Return a condition with the inner table in front of names alone that it has.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``: others may be of rows in the text.
    """
    found = mapped(where, lambda node: _of_inside(node, relation))
    scope.check_named_inside(*(p for p in parts(found) if isinstance(p, Name)))
    return found


def _of_inside(node: object, relation: Relation) -> object:
    """Return a name with the inner table in front, which SQL looks in first."""
    if (
        isinstance(node, Name)
        and node.qualifier is None
        and node.name in relation.columns
    ):
        return replace(node, qualifier=relation.name)
    return node
