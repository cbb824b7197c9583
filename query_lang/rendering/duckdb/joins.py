"""Joins as they are written: the right side is held, and is never empty.

DuckDB leaves the left side of a join unread while its right side is empty. Whether a
private relation has rows may depend on one unit, so each that is held has one row more,
of a unit key that nobody has.
"""

from typing import Final, Protocol

from privacy.schema import NOBODY
from query_lang.plans.expressions import slots_read
from query_lang.plans.nodes import Node, PublicJoin, PublicNode, UnitJoin, slots_of
from query_lang.rendering.duckdb.expressions import ExpressionRenderer, slot_name
from query_lang.rendering.duckdb.hashes import keyed_equality
from query_lang.rendering.duckdb.pieces import Slots, joined, names, select
from query_lang.rendering.fragments import Fragment, listed
from query_lang.rendering.placed_filters import join_sides, public_sides


class Nodes(Protocol):
    """What renders the relations that a join or a subquery is of."""

    def node(self, node: Node | PublicNode, wanted: Slots) -> Fragment:
        """Return a derived table in brackets with the wanted slots as columns."""
        ...

    def expressions(self, allowed: Slots, *, names: bool = True) -> ExpressionRenderer:
        """Return a renderer of expressions over rows with these slots."""
        ...


def unit_join(nodes: Nodes, node: UnitJoin, wanted: Slots) -> Fragment:
    """Return two private relations joined on the unit key."""
    sides = join_sides(node)
    units = frozenset((node.left_unit, node.right_unit))
    read = frozenset() if sides.condition is None else slots_read(sides.condition)
    needed = wanted | units | read
    left = nodes.node(sides.probed, needed & slots_of(sides.probed))
    right = held(nodes, sides.held, needed & slots_of(sides.held), units)
    on = Fragment(f"{slot_name(node.left_unit)} = {slot_name(node.right_unit)}")
    if sides.condition is not None:
        rendered = nodes.expressions(slots_of(node), names=False)
        slots = slots_of(sides.probed), slots_of(sides.held)
        keyed = keyed_equality(sides.condition, slots, sides.held, rendered)
        on = listed([on, rendered.render(sides.condition), *keyed], " AND ")
    return joined(wanted, left, right, on, outer=node.outer)


def public_join(nodes: Nodes, node: PublicJoin, wanted: Slots) -> Fragment:
    """Return private rows joined with a public table, which is held as it is."""
    public, condition = public_sides(node)
    needed = wanted | (frozenset() if condition is None else slots_read(condition))
    left = nodes.node(node.left, needed & slots_of(node.left))
    right = nodes.node(public, needed & slots_of(public))
    on = Fragment("TRUE")
    if condition is not None:
        rendered = nodes.expressions(slots_of(node), names=False)
        slots = slots_of(node.left), slots_of(public)
        keyed = keyed_equality(condition, slots, public, rendered)
        on = listed([rendered.render(condition), *keyed], " AND ")
    return joined(wanted, left, right, on, outer=node.outer)


def held(nodes: Nodes, node: Node, wanted: Slots, units: Slots) -> Fragment:
    """Return a private relation with one row more, which equals no unit's.

    Args:
        nodes: Renders the relation.
        node: What a join holds.
        wanted: Its slots that are read.
        units: Slots of unit keys by which rows are looked up.
    """
    nobody = [
        Fragment(
            f"CAST({NOBODY} AS BIGINT)" if slot in units | {node.owner} else "NULL"
        )
        for slot in sorted(wanted)
    ]
    rows = select(names(wanted), nodes.node(node, wanted))
    extra = Fragment("SELECT ") + nobody[0]
    for value in nobody[1:]:
        extra += Fragment(", ") + value
    return Fragment(f"{rows.sql[:-1]} UNION ALL ", rows.parameters) + extra + _END


_END: Final = Fragment(")")
