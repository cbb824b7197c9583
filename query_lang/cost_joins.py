"""What joins cost: both sides looked at, one held, and the pairs of rows that meet."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from query_lang.cost_amounts import Amount, Relation, paged
from query_lang.cost_constants import (
    BYTES_A_STEP,
    JOIN_ROW_BYTES,
    JOIN_ROW_STEPS,
    JOIN_VALUE_STEPS,
    PAIR_STEPS,
    PAIR_VALUE_STEPS,
)
from query_lang.cost_expressions import ExpressionCost
from query_lang.expressions import Call, Expression, Function, slots_read
from query_lang.placed_filters import join_sides, public_sides
from query_lang.plan import PublicJoin, UnitJoin, slots_of

if TYPE_CHECKING:  # nodes hold joins, and joins hold nodes
    from query_lang.cost_nodes import NodeCosts

Slots = frozenset[int]


def unit_join(costs: "NodeCosts", node: UnitJoin, wanted: Slots) -> Relation:
    """Return the rows of two private relations joined on the unit key."""
    sides = join_sides(node)
    units = {node.left_unit, node.right_unit}
    read = frozenset() if sides.condition is None else slots_read(sides.condition)
    needed = wanted | read | units
    probed = costs.relation(sides.probed, needed & slots_of(sides.probed))
    held = costs.relation(sides.held, needed & slots_of(sides.held))
    is_turned = sides.held is node.left
    left, right = (held, probed) if is_turned else (probed, held)
    rows = _joined_rows(node, left.rows, right.rows, costs.meter.units)
    both = joined(costs, "joins", (probed, held), rows, sides.condition)
    return narrowed(both, wanted)


def public_join(costs: "NodeCosts", node: PublicJoin, wanted: Slots) -> Relation:
    """Return private rows joined with a public table."""
    public, condition = public_sides(node)
    needed = wanted | (frozenset() if condition is None else slots_read(condition))
    left = costs.relation(node.left, needed & slots_of(node.left))
    right = costs.relation(public, needed & slots_of(public))
    rows = left.rows.times(node.fan_out)
    both = joined(costs, "public joins", (left, right), rows, condition)
    return narrowed(both, wanted)


def joined(
    costs: "NodeCosts",
    construct: str,
    sides: tuple[Relation, Relation],
    rows: Amount,
    condition: Expression | None,
) -> Relation:
    """Count a join of which the second side is held; return its pairs."""
    probed, held = sides
    matched(costs, construct, keyed(costs, probed, condition))
    matched(costs, construct, keyed(costs, held, condition))
    hold(costs, construct, keyed(costs, held, condition))
    both = Relation(rows, {**probed.widths, **held.widths})
    steps = PAIR_STEPS + PAIR_VALUE_STEPS * len(both.widths)
    costs.meter.spend(construct, rows, steps)
    if condition is not None:
        costs.evaluate(construct, [condition], both, names=False)
    return both


def matched(costs: "NodeCosts", construct: str, side: Relation) -> None:
    """Count rows that are put into a hash table or looked up in one."""
    steps = JOIN_ROW_STEPS + JOIN_VALUE_STEPS * len(side.widths)
    steps += side.row_bytes // BYTES_A_STEP
    costs.meter.spend(construct, side.rows, steps)


def keyed(costs: "NodeCosts", side: Relation, condition: Expression | None) -> Relation:
    """Return a side with what a condition computes of its columns alone.

    The engine makes those values for each row and keeps them beside it as keys.
    """
    if condition is None:
        return side
    cost = ExpressionCost(side.widths, costs.meter.own)
    made = map(cost.width, _computed(condition, side))
    keys = {-place: width for place, width in enumerate(made, 1)}
    return Relation(side.rows, {**side.widths, **keys})


def _computed(value: Expression, side: Relation) -> Iterator[Expression]:
    """Yield the largest parts that read one side alone: a range has its value twice."""
    if not isinstance(value, Call):
        return
    read = slots_read(value)
    if read and read <= side.widths.keys():
        yield value
        return
    again = value.operands[:1] if value.function is Function.BETWEEN else ()
    for operand in (*again, *value.operands):
        yield from _computed(operand, side)


def hold(costs: "NodeCosts", construct: str, side: Relation) -> None:
    """Count the rows that a join keeps in its hash table."""
    costs.meter.hold(construct, side.rows, JOIN_ROW_BYTES + paged(side.row_bytes))


def paired(left: Amount, right: Amount, units: int) -> Amount:
    """Return the pairs of rows of one unit each: the least of three bounds."""
    whole = min(
        left.whole * right.unit,
        right.whole * left.unit,
        units * left.unit * right.unit,
    )
    return Amount(left.unit * right.unit, whole)


def narrowed(relation: Relation, wanted: Slots) -> Relation:
    """Return a relation with the wanted slots alone."""
    kept = {slot: relation.widths[slot] for slot in wanted}
    return Relation(relation.rows, kept)


def _joined_rows(node: UnitJoin, left: Amount, right: Amount, units: int) -> Amount:
    pairs = paired(left, right, units)
    if node.outer:
        return left if node.right_by_key else pairs + left
    rows = pairs.at_most(left) if node.right_by_key else pairs
    return rows.at_most(right) if node.left_by_key else rows
