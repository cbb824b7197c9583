"""Which blocks' units a plan reads: the others may be there or not.

By induction over the nodes (docs/proofs/blocks.md): a node has no row of a unit whose
block is not among those returned, on any database that was loaded as it is declared.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

from privacy.schema import Blocks, Dataset
from query_lang.confining.truths import BlockSlots, Conditions
from query_lang.plans.expressions import Expression, FieldRef
from query_lang.plans.nodes import (
    BoundContributions,
    Compute,
    Filter,
    Node,
    PublicJoin,
    Rollup,
    RollupItem,
    Scan,
    Union,
    UnitJoin,
    Windowed,
    WindowItem,
)

Touched = tuple[int, BlockSlots]
_ONE_OF_ITS_VALUES = frozenset({"min", "max", "first", "last", "lag", "lead"})
"""Of roll-ups and windows: what gives one of its argument's values, or NULL."""


def touched_blocks(node: Node, dataset: Dataset) -> tuple[str, ...]:
    """Return the blocks whose units can have rows of a node, in declared order.

    Args:
        node: What a question counts the rows of.
        dataset: The public schema that it was bound against.

    Returns:
        Names of blocks, one at least: where no unit can have a row, all of them. None
        at all where the population has no blocks.

    Neighbouring relation: add or remove all rows of one unit; of a unit of another
    block, what is counted stays equal. Proof: docs/proofs/blocks.md.
    """
    blocks = dataset.blocks
    if blocks is None:
        return ()
    found, _ = _Reading(blocks).touched(node, {})
    names = blocks.names()
    touched = tuple(name for place, name in enumerate(names) if found >> place & 1)
    return touched or names


class _Reading:
    """One reading of a plan, over the blocks of its population."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._conditions = Conditions(blocks.values, self.touched)

    def touched(self, node: Node, outer: BlockSlots) -> Touched:  # noqa: PLR0911 - an arm a form
        """Return whose rows a node has, and its block slots.

        Args:
            node: Of the plan, or of a subquery of it.
            outer: Block slots of the rows around a subquery, of the same unit.
        """
        match node:
            case Scan():
                return self._conditions.all, self._scanned(node)
            case UnitJoin():
                return self._joined(node, outer)
            case PublicJoin():
                return self._looked_up(node, outer)
            case Union():
                return self._united(node, outer)
            case _:
                return self._kept(node, outer)

    def _kept(  # noqa: PLR0911 - an arm a form
        self,
        node: Filter | Compute | Windowed | Rollup | BoundContributions,
        outer: BlockSlots,
    ) -> Touched:
        """Return the same of a node that has rows of no other units than its child."""
        found, slots = self.touched(node.child, outer)
        match node:
            case Filter(condition=condition):
                known = {**outer, **slots}
                return found & self._conditions.truths(condition, known).true, slots
            case Compute(items=items):
                return found, {**slots, **_copied(items, slots)}
            case Windowed(items=windows):
                return found, {**slots, **_chosen(windows, slots)}
            case Rollup(keys=keys, items=rollups):
                return found, {**_copied(keys, slots), **_chosen(rollups, slots)}
            case BoundContributions():
                return found, slots
            case _:
                assert_never(node)

    def _scanned(self, scan: Scan) -> BlockSlots:
        if scan.table.name not in self._blocks.tables:
            return {}
        names = [column.name for column in scan.table.columns]
        return {scan.first_slot + names.index(self._blocks.column): False}

    def _joined(self, node: UnitJoin, outer: BlockSlots) -> Touched:
        """Join two sides of one unit; the condition of a LEFT join drops no row."""
        left, slots = self.touched(node.left, outer)
        right, others = self.touched(node.right, outer)
        if not node.outer:
            return left & right, {**slots, **others}
        return left, {**slots, **dict.fromkeys(others, True)}

    def _looked_up(self, node: PublicJoin, outer: BlockSlots) -> Touched:
        found, slots = self.touched(node.left, outer)
        if not node.outer:
            found &= self._conditions.truths(node.condition, {**outer, **slots}).true
        return found, slots

    def _united(self, node: Union, outer: BlockSlots) -> Touched:
        """Unite parts; a column is a block slot where it is one in every part."""
        found, slots = 0, dict.fromkeys(node.columns, False)
        for part in node.parts:
            own, known = self.touched(part.node, outer)
            found |= own
            of_part = _copied(zip(node.columns, part.items, strict=True), known)
            slots = {
                slot: nullable or of_part[slot]
                for slot, nullable in slots.items()
                if slot in of_part
            }
        return found, slots


def _copied(
    items: Iterable[tuple[int, Expression]], known: BlockSlots
) -> dict[int, bool]:
    """Return the block slots that are made of others as they are."""
    return {
        slot: known[value.slot]
        for slot, value in items
        if isinstance(value, FieldRef) and value.slot in known
    }


def _chosen(
    items: Iterable[RollupItem | WindowItem], known: BlockSlots
) -> Mapping[int, bool]:
    """Return the block slots that hold one of the values of others, or NULL."""
    return {
        item.slot: True
        for item in items
        if item.kind in _ONE_OF_ITS_VALUES
        and isinstance(item.value, FieldRef)
        and item.value.slot in known
    }
