"""Joins of each unit's different rows alone, where units alone are counted.

COUNT(DISTINCT patient_id) asks whether a patient has any row in a cell. So a side of a
join, or a part of a UNION ALL, whose rows of one unit differ in a few listed values is
grouped by these first: four codes meet four codes, not eighty rows eighty.
Proof: docs/proofs/distinct_rows.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from query_lang.binding.environment import Environment
from query_lang.binding.scalars.narrowing import Conditions, listed_by
from query_lang.binding.scope import column_facts
from query_lang.plans.expressions import (
    Constant,
    Expression,
    Facts,
    FieldRef,
    conjunction,
    conjuncts,
    slots_read,
)
from query_lang.plans.nodes import (
    Aggregate,
    Compute,
    CountUnitsMeasure,
    Filter,
    Identity,
    Node,
    Rollup,
    Scan,
    Union,
    UnionPart,
    UnitJoin,
    conditions_of,
    slots_of,
)
from query_lang.plans.sensitivity import groups_within

MANY_ROWS: Final = 1_000
"""Rows of one unit from which on its different ones are looked for: fewer are cheap."""

_FEWER: Final = 4
"""Grouping pays where it leaves one row in so many."""

_Slots = frozenset[int]


def with_distinct_rows(plan: Aggregate, environment: Environment) -> Aggregate:
    """Return a plan of the same answers, its joins of fewer rows where it can be."""
    counted = [m for m in plan.measures if isinstance(m, CountUnitsMeasure)]
    if len(counted) < len(plan.measures) or plan.child.rows_per_unit < MANY_ROWS:
        return plan
    needed = frozenset(key.slot for key in plan.keys) | {m.slot for m in counted}
    return replace(plan, child=_Distinct(environment).below(plan.child, needed))


@dataclass(frozen=True, slots=True)
class _Distinct:
    environment: Environment

    def below(  # noqa: PLR0911 - an arm a node
        self, node: Node, needed: _Slots, kept: tuple[Expression, ...] = ()
    ) -> Node:
        """Return a node with the same different rows of each unit in some slots.

        Args:
            node: Of the plan.
            needed: What is read of its rows.
            kept: What the filters above it ask of them.
        """
        match node:
            case Compute(child, items):
                made = dict(items)
                read = _read(v for slot, v in items if slot in needed)
                said = tuple(c for c in kept if not slots_read(c) & made.keys())
                inner = self.below(child, (needed - made.keys()) | read, said)
                return replace(node, child=inner)
            case Filter(child, condition, None):
                said = (*kept, *conjuncts(condition))
                inner = self.below(child, needed | slots_read(condition), said)
                return replace(node, child=inner)
            case UnitJoin(outer=False):
                return self._join(node, needed, kept)
            case Union(parts):
                return replace(node, parts=tuple(self._part(p) for p in parts))
            case _:
                return node

    def _join(
        self, join: UnitJoin, needed: _Slots, kept: Sequence[Expression]
    ) -> UnitJoin:
        if join.left_unit != join.left.owner or join.right_unit != join.right.owner:
            return join
        return replace(
            join,
            left=self._side(join.left, needed, kept),
            right=self._side(join.right, needed, kept),
        )

    def _side(self, node: Node, needed: _Slots, kept: Sequence[Expression]) -> Node:
        """Return one side grouped by what is read of it, if that leaves few rows."""
        own = slots_of(node)
        said = [c for c in kept if slots_read(c) and slots_read(c) <= own]
        if said:
            node = Filter(node, conjunction(tuple(said)))
        read = _read(said)
        return self._grouped(self.below(node, (needed & own) | read), needed & own)

    def _part(self, part: UnionPart) -> UnionPart:
        needed = _read(part.items)
        return replace(part, node=self._grouped(self.below(part.node, needed), needed))

    def _grouped(self, node: Node, needed: _Slots) -> Node:
        """Group rows by what is read of them, where one unit has few such groups."""
        literals = _literals_in(node)
        made = tuple((s, literals[s]) for s in sorted(needed & literals.keys()))
        found = self._rollup(node, needed - literals.keys())
        return Compute(found, made) if made and found is not node else found

    def _rollup(self, node: Node, needed: _Slots) -> Node:
        facts = _facts_in(node)
        slots = sorted(needed - {node.owner})
        if any(slot not in facts for slot in slots):
            return node
        conditions = Conditions(tuple(conditions_of(node)), self.environment.tries)
        keys: list[FieldRef] = []
        for slot in slots:
            listed = listed_by(conditions, FieldRef(slot, facts[slot]))
            keys.append(FieldRef(slot, replace(listed, constant=facts[slot].constant)))
        groups = groups_within(node, keys)
        if groups * _FEWER > node.rows_per_unit:
            return node
        least = Identity(
            *(
                tuple(self.environment.new_slot() for _ in each)
                for each in (
                    node.identity.hashes,
                    node.identity.parts,
                    node.identity.public_rows,
                )
            )
        )
        return Rollup(node, tuple((key.slot, key) for key in keys), (), least, groups)


def _read(expressions: Iterable[Expression]) -> _Slots:
    return frozenset(slot for each in expressions for slot in slots_read(each))


def _literals_in(node: Node) -> dict[int, Constant]:
    """Return the slots that hold one literal in every row."""
    found: dict[int, Constant] = {}
    while isinstance(node, Filter | Compute):
        if isinstance(node, Compute):
            found |= {s: v for s, v in node.items if isinstance(v, Constant)}
        node = node.child
    return found


def _facts_in(node: Node) -> dict[int, Facts]:
    """Return what is known of the slots of a table, and of what is computed of them."""
    match node:
        case Filter(child):
            return _facts_in(child)
        case Compute(child, items):
            return _facts_in(child) | {slot: value.facts for slot, value in items}
        case Scan(table):
            columns = enumerate(table.columns, node.first_slot)
            return {slot: column_facts(column) for slot, column in columns}
        case _:
            return {}
