"""Aggregates of the rows that each row meets, where a condition compares both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from query_lang.binding.aggregates import (
    argument_of,
    average_of,
    check_argument,
    made_facts,
)
from query_lang.binding.expressions import ExpressionBinder
from query_lang.binding.scope import AverageColumn, RelationColumn, ValueColumn
from query_lang.binding.sources.first_rows import or_null
from query_lang.plans.expressions import Expression, FieldRef, truth_constant
from query_lang.plans.nodes import FrameEnd, Item, WindowItem, WindowKind
from query_lang.syntax import rules
from query_lang.syntax.nodes import AggregateCall, CountRows, Join, Select, SelectItem
from query_lang.syntax.refusals import refuse

_KINDS: Mapping[str, WindowKind] = {
    "count": "count",
    "sum": "sum",
    "min": "min",
    "max": "max",
    "bool_and": "bool_and",
    "bool_or": "bool_or",
}


@dataclass(frozen=True, slots=True)
class RowsMet:
    """What is computed of the rows that one row meets.

    Attributes:
        made: Of each row, before it is met; NULL where there is none.
        items: Windows over the rows that one row meets.
        columns: What they are called.
    """

    made: Sequence[Item]
    items: Sequence[WindowItem]
    columns: Mapping[str, RelationColumn]


def check_met(query: Select, join: Join) -> None:
    """Refuse what LATERAL has that is neither one first row nor aggregates alone.

    Raises:
        SqlNotAllowedError: Rule ``lateral_join``.
    """
    strange = (query.joins, query.group_by, query.having, query.distinct, query.kept)
    is_plain = query.where is not None and not query.order_by and not any(strange)
    if not is_plain or not all(map(_is_met, query.items)):
        raise refuse(rules.LATERAL_JOIN, join.position)


def _is_met(item: SelectItem) -> bool:
    tree = item.expression
    if isinstance(tree, CountRows):
        return item.alias is not None
    if not isinstance(tree, AggregateCall) or tree.name not in {*_KINDS, "avg"}:
        return False
    is_plain = len(tree.arguments) == 1 and not (tree.distinct or tree.order_by)
    return is_plain and item.alias is not None


def rows_met(
    query: Select, rows: ExpressionBinder, met: FieldRef, most: int
) -> RowsMet:
    """Return the aggregates of a list over the rows that each row meets.

    Proof: docs/proofs/numbering.md.

    Args:
        query: Of aggregates alone.
        rows: Binds what they are of: columns of the inner table.
        met: The number of the row that meets them, by which they are partitioned.
        most: The most rows that one meets.
    """
    made: list[Item] = []
    items: list[WindowItem] = []
    columns: dict[str, RelationColumn] = {}

    def window(kind: WindowKind, value: Expression, *, cut: bool = True) -> FieldRef:
        slot = rows.environment.new_slot()
        found = made_facts(kind, value.facts, most, least=0)
        ends = FrameEnd(None), FrameEnd(None)
        items.append(WindowItem(slot, kind, value, (met,), (), *ends, saturates=cut))
        return FieldRef(slot, replace(found, constant=False))

    for item in query.items:
        tree, kind = item.expression, "count"
        value: Expression = truth_constant(truth=True)
        if isinstance(tree, AggregateCall):
            (argument,), kind = tree.arguments, tree.name
            found = argument_of(kind, rows.value(argument))
            check_argument(kind, found, argument)
            value = found
        slot = rows.environment.new_slot()
        made.append((slot, value))
        value = or_null(slot, value.facts)
        column: RelationColumn
        if kind == "avg":
            total, number = window("sum", value, cut=False), window("count", value)
            column = AverageColumn(average_of(total, number, value.facts))
        else:
            one = window(_KINDS[kind], value)
            column = ValueColumn(one.slot, one.facts)
        columns[item.alias or ""] = column
    return RowsMet(made, items, columns)
