"""Which columns tell the rows of one unit apart: in a table, and in what is made of it.

A key that is declared of a table stays one in what filters, numbers or joins it, and
GROUP BY makes one of its keys. Proof: docs/proofs/join.md.
"""

from query_lang.binding.scalars.row_numbers import is_held_to_one
from query_lang.plans.expressions import (
    Expression,
    FieldRef,
    conjuncts,
    is_equality,
)
from query_lang.plans.nodes import (
    Compute,
    Filter,
    Node,
    OneChild,
    PublicJoin,
    Rollup,
    Scan,
    UnitJoin,
    Windowed,
    slots_of,
)

Slots = frozenset[int]


def are_told_apart(node: Node, slots: Slots) -> bool:  # noqa: PLR0911 - an arm a form
    """Whether no two rows of one unit agree in some slots, none of them NULL.

    Neighbouring relation: add or remove all rows of one unit. Proof:
    docs/proofs/join.md.
    """
    if node.rows_per_unit == 1:
        return True
    match node:
        case Scan():
            return bool(node.table.key) and _key_of(node) <= slots
        case Rollup(_, keys):
            return {slot for slot, _ in keys} <= slots
        case UnitJoin():
            return _are_pairs_told_apart(node, slots)
        case PublicJoin(left, fan_out=most):
            return most == 1 and are_told_apart(left, slots)
        case _:
            return isinstance(node, OneChild) and _are_kept_apart(node, slots)


def _are_kept_apart(node: OneChild, slots: Slots) -> bool:
    """Whether rows are told apart that are the child's, or some of them."""
    if isinstance(node, Filter):
        slots = _with_equal(slots, node.condition)
        if _are_numbered(node.child, node.condition, slots):
            return True
    if isinstance(node, Compute):
        slots |= {
            value.slot
            for slot, value in node.items
            if slot in slots and isinstance(value, FieldRef)
        }
    return are_told_apart(node.child, slots)


def _key_of(scan: Scan) -> Slots:
    """Return the slots of a table's declared key, the unit key left out."""
    names = [column.name for column in scan.table.columns]
    unit = scan.table.unit_column
    own = (name for name in scan.table.key if name != unit and name in names)
    return frozenset(scan.first_slot + names.index(name) for name in own)


def _are_pairs_told_apart(node: UnitJoin, slots: Slots) -> bool:
    """Whether both sides' rows are, or those of one that determine the other's."""
    left = are_told_apart(node.left, slots & slots_of(node.left))
    if left and node.right_by_key:
        return True
    right = are_told_apart(node.right, slots & slots_of(node.right))
    return right and (left or (node.left_by_key and not node.outer))


def _with_equal(slots: Slots, condition: Expression) -> Slots:
    """Return slots with those whose values follow from them by equality."""
    pairs = [
        tuple(part.operands)
        for part in conjuncts(condition)
        if is_equality(part)
        and all(isinstance(each, FieldRef) for each in part.operands)
    ]
    found, before = {*slots}, -1
    while len(found) > before:
        before = len(found)
        for pair in pairs:
            own = {each.slot for each in pair if isinstance(each, FieldRef)}
            found |= own if own & found else set()
    return frozenset(found)


def _are_numbered(node: Node, condition: Expression, slots: Slots) -> bool:
    """Whether one row of each partition is kept by its number, and slots tell these."""
    while isinstance(node, OneChild):
        if isinstance(node, Windowed):
            for item in node.items:
                keys = [k.slot for k in item.partition if isinstance(k, FieldRef)]
                is_known = len(keys) == len(item.partition) and slots.issuperset(keys)
                is_number = item.kind == "row_number" and is_known
                if is_number and is_held_to_one(condition, item.slot):
                    return True
        node = node.child
    return False
