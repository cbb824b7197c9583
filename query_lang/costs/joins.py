"""What joins cost: both sides looked at, one held, and the pairs of rows that meet."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from query_lang.costs.amounts import Amount, Meter, Relation, paged
from query_lang.costs.constants import (
    BYTES_A_STEP,
    JOIN_ROW_BYTES,
    JOIN_ROW_STEPS,
    JOIN_VALUE_STEPS,
    LONE_OPERATOR_STEPS,
    LONE_PAIR_STEPS,
    PAIR_STEPS,
    PAIR_VALUE_STEPS,
    STARTED_JOIN,
    TABLE_BYTES,
    TABLE_TEXT_BYTES,
)
from query_lang.costs.expressions import ExpressionCost
from query_lang.costs.hashes import looked_up
from query_lang.costs.operators import operators
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    FieldRef,
    Function,
    conjuncts,
    is_equality,
    slots_read,
)
from query_lang.plans.nodes import Node, PublicJoin, PublicNode, UnitJoin, slots_of
from query_lang.rendering.keyed_hashes import crowding_rows, equated, is_text
from query_lang.rendering.placed_filters import join_sides, public_sides

Slots = frozenset[int]

_COMPARED = frozenset(
    (Function.EQ, Function.NE, Function.LT, Function.LE, Function.GT, Function.GE)
)
_COMPUTED = frozenset(
    (
        *(Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE),
        *(Function.NEGATE, Function.ADD_DAYS, Function.SUBTRACT_DAYS),
        *(Function.DAYS_BETWEEN, Function.MONTHS_BETWEEN, Function.YEARS_BETWEEN),
        *(Function.AGE_YEARS, Function.EXTRACT, Function.DATE_OF),
        *(Function.LEVEL, Function.AGE_BAND, Function.RESCALE, Function.MODULO),
        *(Function.DIVIDE_DECIMAL, Function.ABS, Function.SIGN, Function.FLOOR),
        *(Function.CEILING, Function.ROUND, Function.TRUNCATE, Function.WIDTH_BUCKET),
        *(Function.MIDNIGHT_OF, Function.CAST_NUMBER, Function.READ, Function.TEXT_OF),
        *(Function.AGE_MONTHS, Function.ADD_MONTHS, Function.ADD_MICROSECONDS),
        *(Function.TIME_BETWEEN, Function.PERIOD, Function.LAST_OF_MONTH),
        Function.WRITTEN_DAY,
    )
)
"""What gives a value of the row's own, whatever the optimizer knows."""


class Costs(Protocol):
    """What counts the relations that a join or a subquery is of."""

    @property
    def meter(self) -> Meter:
        """Return where what they take is counted."""
        ...

    def relation(self, node: Node | PublicNode, wanted: Slots) -> Relation:
        """Return a node's rows with the wanted slots, and count what they take."""
        ...

    def evaluate(
        self,
        construct: str,
        expressions: Iterable[Expression],
        rows: Relation,
        *,
        names: bool = True,
    ) -> ExpressionCost:
        """Count expressions over rows, subqueries and all; return what was summed."""
        ...


def unit_join(costs: Costs, node: UnitJoin, wanted: Slots) -> Relation:
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
    pair = probed, held
    matched_by_values(costs, "joins", pair, sides.held, sides.condition)
    if node.outer:
        met = paired(probed.rows, held.rows, costs.meter.units)
        walked_alone(costs, "joins", pair, (held.rows.unit, met), sides.condition)
    both = joined(costs, "joins", pair, rows, sides.condition)
    return narrowed(both, wanted)


def public_join(costs: Costs, node: PublicJoin, wanted: Slots) -> Relation:
    """Return private rows joined with a public table."""
    public, condition = public_sides(node)
    needed = wanted | (frozenset() if condition is None else slots_read(condition))
    left = costs.relation(node.left, needed & slots_of(node.left))
    right = costs.relation(public, needed & slots_of(public))
    rows = left.rows.times(node.fan_out)
    matched_by_values(costs, "public joins", (left, right), public, condition)
    if node.outer:
        chain = node.fan_out, rows
        walked_alone(costs, "public joins", (left, right), chain, condition)
    both = joined(costs, "public joins", (left, right), rows, condition)
    return narrowed(both, wanted)


def joined(
    costs: Costs,
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
    asked = [] if condition is None else _asked_of_pairs(condition, probed, held)
    if asked:
        costs.evaluate(construct, asked, both, names=False)
    return both


def _asked_of_pairs(
    condition: Expression, probed: Relation, held: Relation
) -> list[Expression]:
    """Return what is asked of pairs: stored numbers lead from one row to the other."""
    leading = set(equated(condition, frozenset(probed.widths), frozenset(held.widths)))
    return [
        part
        for part in conjuncts(condition)
        if not (
            is_equality(part)
            and _are_stored_numbers(part)
            and not leading.isdisjoint({part.operands, part.operands[::-1]})
        )
    ]


def _are_stored_numbers(equality: Call) -> bool:
    return (
        all(
            isinstance(each, FieldRef) and not is_text(each.facts)
            for each in equality.operands
        )
        and len({each.facts.scale for each in equality.operands}) == 1
    )


def matched(costs: Costs, construct: str, side: Relation) -> None:
    """Count rows that are put into a hash table or looked up in one."""
    steps = JOIN_ROW_STEPS + JOIN_VALUE_STEPS * len(side.widths)
    steps += side.row_bytes // BYTES_A_STEP
    costs.meter.spend(construct, side.rows, steps)
    costs.meter.start(construct, STARTED_JOIN)


def walked_alone(
    costs: Costs,
    construct: str,
    sides: tuple[Relation, Relation],
    met: tuple[int, Amount],
    condition: Expression | None,
) -> None:
    """Count pairs that one row of a vector meets when all others have met theirs.

    A join that is not an inner one asks its condition of the next row that each row of
    a vector meets, until none meets any more: for a unit that has far more rows than
    others, of one row at a time, each operator at a vector's fixed cost.

    Args:
        costs: Counts.
        construct: What joins.
        sides: Rows that are looked up, and those that are held.
        met: How many rows one row meets, and how many pairs there are.
        condition: What is asked of pairs.
    """
    if condition is None:
        return
    probed, held = sides
    chain, pairs = met
    asked = sum(
        operators(part, costs.meter.own)
        for part in conjuncts(condition)
        if not _is_of_sides(part, probed, held)
    )
    steps = LONE_PAIR_STEPS + asked * LONE_OPERATOR_STEPS
    alone = probed.vectors.times(chain).at_most(pairs)
    costs.meter.spend(construct, alone, steps)


def _is_of_sides(part: Expression, probed: Relation, held: Relation) -> bool:
    """Whether a condition compares a value of one side with one of the other.

    Both are made for each row, and compared as keys: no operator is asked of pairs. A
    choice (CASE, AND, ...) may turn out to be a constant whatever it names, and what is
    compared with a constant is asked of pairs.
    """
    if not (isinstance(part, Call) and part.function in _COMPARED):
        return False
    if not all(map(_is_made_of_rows, part.operands)):
        return False
    one, two = (slots_read(value) for value in part.operands)
    mine, theirs = probed.widths.keys(), held.widths.keys()
    apart = (one <= mine and two <= theirs) or (one <= theirs and two <= mine)
    return bool(one and two) and apart


def _is_made_of_rows(value: Expression) -> bool:
    match value:
        case FieldRef() | Constant():
            return True
        case Call():
            computed = value.function in _COMPUTED
            return computed and all(map(_is_made_of_rows, value.operands))
        case _:
            return False


def keyed(costs: Costs, side: Relation, condition: Expression | None) -> Relation:
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


def matched_by_values(
    costs: Costs,
    construct: str,
    sides: tuple[Relation, Relation],
    node: Node | PublicNode,
    condition: Expression | None,
) -> None:
    """Count what values that were chosen delay, or keyed hashes.

    Args:
        costs: Counts.
        construct: What looks up.
        sides: Rows that are looked up, and those that are held.
        node: What is held.
        condition: What is asked of pairs, beside the unit keys.
    """
    probed, held = sides
    pairs = equated(condition, frozenset(probed.widths), frozenset(held.widths))
    found = [theirs for _, theirs in pairs]
    known = [value.facts for value in found]
    most = crowding_rows(node, found)
    if held.rows.unit:  # of a private table, perhaps with fewer rows a unit on trial
        most = min(most, held.rows.unit)
    made = 0
    for rows, values in ((probed, 0), (held, 1)):
        values_of = [pair[values] for pair in pairs]
        cost = ExpressionCost(rows.widths, costs.meter.own, names=False)
        widths = [cost.width(value) for value in values_of]
        keys = list(zip(known, widths, strict=True))
        made = looked_up(costs.meter, construct, rows.rows, most, keys)
        computed = [value for value in values_of if not isinstance(value, FieldRef)]
        if made and computed:
            costs.evaluate(construct, computed, rows, names=False)
    costs.meter.hold(construct, held.rows, made)


def hold(costs: Costs, construct: str, side: Relation) -> None:
    """Count the rows that a join keeps in its hash table."""
    costs.meter.hold(construct, side.rows, JOIN_ROW_BYTES + paged(side.row_bytes))
    texts = TABLE_TEXT_BYTES if side.has_texts else 0
    costs.meter.start(construct, 0, TABLE_BYTES + texts)


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
    return replace(relation, widths=kept)


def _joined_rows(node: UnitJoin, left: Amount, right: Amount, units: int) -> Amount:
    pairs = paired(left, right, units)
    if node.outer:
        return left if node.right_by_key else pairs + left
    rows = pairs.at_most(left) if node.right_by_key else pairs
    return rows.at_most(right) if node.left_by_key else rows
