"""What ON equates, and how many rows meet by it."""

from collections.abc import Sequence

from query_lang.binding.sources.uniqueness import are_told_apart
from query_lang.plans.expressions import (
    Expression,
    FieldRef,
    holds_subquery,
    is_equality,
    slots_read,
)
from query_lang.plans.nodes import Compute, Node, PublicScan, Scan
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse


def refuse_subqueries(conditions: Sequence[Expression], position: Position) -> None:
    """Keep subqueries out of the ON of LEFT joins, which not every engine can run."""
    if any(holds_subquery(condition) for condition in conditions):
        raise refuse(rules.SUBQUERY_PLACE, position)


def equalities(
    conditions: Sequence[Expression],
) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    """Part the conditions of an INNER join into equalities and the rest."""
    equal = tuple(condition for condition in conditions if is_equality(condition))
    return equal, tuple(c for c in conditions if c not in equal)


def covers_key(side: Node, other: Node, conditions: Sequence[Expression]) -> bool:
    """Whether each row of the other side meets one row of a side at most by ON.

    ON equates columns that tell the side's rows of one unit apart with values of the
    other side. Neighbouring relation: add or remove all rows of one unit. Proof:
    docs/proofs/join.md.
    """
    if side.rows_per_unit == 1 and not _has_key(side):
        return False  # it meets one whatever ON says
    equated = frozenset(_equated(conditions, other.slots))
    return are_told_apart(side, equated & side.slots)


def _has_key(side: Node) -> bool:
    while isinstance(side, Compute):  # its rows are the scan's
        side = side.child
    return isinstance(side, Scan) and bool(side.table.key)


def _equated(
    conditions: Sequence[Expression], other: frozenset[int]
) -> dict[int, Expression]:
    """Return each slot that a conjunct equates with values of the other side alone."""
    found: dict[int, Expression] = {}
    for condition in conditions:
        if not is_equality(condition):
            continue
        one, two = condition.operands
        for column, value in ((one, two), (two, one)):
            if isinstance(column, FieldRef) and slots_read(value) <= other:
                found.setdefault(column.slot, value)
    return found


def fan_out(
    left: Node, right: PublicScan, conditions: Sequence[Expression]
) -> tuple[int | None, bool]:
    """Return the most public rows a private row meets, and if it is a constant lookup.

    None where no verified key or fan-out is equated.
    """
    equated = _equated(conditions, left.slots)
    names = [column.name for column in right.table.columns]

    def slots(columns: Sequence[str]) -> list[int]:
        return [right.first_slot + names.index(name) for name in columns]

    key = slots(right.table.key)
    if key and all(slot in equated for slot in key):
        return 1, all(equated[slot].facts.constant for slot in key)
    most = [
        rows
        for columns, rows in right.table.fan_out
        if all(slot in equated for slot in slots(columns))
    ]
    return (min(most) if most else None), False
