"""Where conditions are held: below joins, in the side whose columns they read.

The engine runs plans as they are written (``engines/duckdb/snapshots.py``), so that
nothing it knows of stored rows moves work about. What does not depend on rows is done
here, once, for the rendering and for the cost alike. All
expressions are total, so a condition may be held to rows that a later one would have
dropped.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from query_lang.plans.expressions import (
    Expression,
    conjunction,
    conjuncts,
    is_equality,
    slots_read,
)
from query_lang.plans.nodes import (
    Compute,
    Filter,
    Node,
    PublicFilter,
    PublicJoin,
    PublicNode,
    UnitJoin,
    slots_of,
)


def placed(node: Filter) -> Node:
    """Return a filter with each conjunct below the joins that it does not need.

    Of a LEFT join only the side that is preserved takes conditions from above.
    """
    child = node.child
    if node.first is not None or not isinstance(child, UnitJoin | PublicJoin | Compute):
        return node
    if isinstance(child, Compute):
        below, rest = parted(node.condition, child.child)
        return _held(replace(child, child=_held(child.child, below)), rest)
    left, rest = parted(node.condition, child.left)
    if isinstance(child, PublicJoin):
        below, rest = ((), rest) if child.outer else _of_public(rest, child)
        condition = conjunction((child.condition, *below))
        left_side = _held(child.left, left)
        return _held(replace(child, left=left_side, condition=condition), rest)
    right: tuple[Expression, ...] = ()
    if rest and not child.outer:
        right, rest = parted(conjunction(rest), child.right)
    sides = replace(
        child, left=_held(child.left, left), right=_held(child.right, right)
    )
    keys = tuple(part for part in rest if is_equality(part))
    if keys and not child.outer:  # they lead from a row to those that it meets
        sides = replace(sides, condition=conjunction(keys))
        rest = tuple(part for part in rest if not is_equality(part))
    return _held(sides, rest)


@dataclass(frozen=True, slots=True)
class JoinSides:
    """A join on the unit key as it runs.

    Attributes:
        probed: The side whose rows are looked up; all of them, of a LEFT join.
        held: The side that is kept in a hash table.
        condition: What is checked for each pair, beside the unit keys, or None.
    """

    probed: Node
    held: Node
    condition: Expression | None


def join_sides(node: UnitJoin) -> JoinSides:
    """Return which side is held: of an INNER join the one with fewer rows a unit.

    The bound decides, which is public, never the numbers of stored rows.
    """
    left, right = node.left, node.right
    if node.outer:
        if node.condition is None:
            return JoinSides(left, right, None)
        own, rest = parted(node.condition, right)
        return JoinSides(left, _held(right, own), conjunction(rest) if rest else None)
    if left.rows_per_unit < right.rows_per_unit:
        left, right = right, left
    return JoinSides(left, right, node.condition)


def public_sides(node: PublicJoin) -> tuple[PublicNode, Expression | None]:
    """Return the public side with what is asked of it alone, and the rest of ON."""
    own, rest = parted(node.condition, node.right)
    held = PublicFilter(node.right, conjunction(own)) if own else node.right
    return held, conjunction(rest) if rest else None


def _of_public(
    conditions: tuple[Expression, ...], join: PublicJoin
) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    return parted(conjunction(conditions), join.right) if conditions else ((), ())


def parted(
    condition: Expression, side: Node | PublicNode
) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    """Return the conjuncts that read one side alone, or nothing, and the others."""
    own = slots_of(side)
    parts = conjuncts(condition)
    below = tuple(part for part in parts if slots_read(part) <= own)
    return below, tuple(part for part in parts if not slots_read(part) <= own)


def _held(node: Node, conditions: Iterable[Expression]) -> Node:
    """Return a node's rows that meet the conditions, each below what it can be."""
    kept = tuple(conditions)
    return Filter(node, conjunction(kept)) if kept else node
