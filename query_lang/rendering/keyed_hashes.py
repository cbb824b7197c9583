"""Where hash tables take a keyed hash: where one unit could fill a run of places.

The engine's own hash has no key and can be inverted. Values that somebody chose, of
hashes that end alike, lie in one run of a table, through which each further row of them
walks: k rows take k * k steps. So what is looked up by such values is also looked up by
a hash of them with a secret, which changes no result, as equal values have equal
hashes. For the rendering and for the cost alike. Proof: docs/proofs/plan_cost.md.
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Final

from privacy.schema import ColumnType
from query_lang.plans.domains import cell_count
from query_lang.plans.expressions import (
    Expression,
    Facts,
    conjuncts,
    is_equality,
    slots_read,
)
from query_lang.plans.nodes import Aggregate

FEW_VALUES: Final = 1_024
"""So many declared values, a quarter of the places of the smallest table, cannot be
chosen so that they fill a run."""

WALKED_ROWS: Final = 2
WALKED_TEXTS: Final = 20
"""Rows of one unit whose run costs less than keyed hashes of numbers, and of texts."""

Slots = frozenset[int]


def combinations(keys: Iterable[Facts]) -> int | None:
    """Return how many values keys have together, or None where none are declared."""
    found = 1
    for facts in keys:
        size = cell_count(facts)
        if size is None:
            return None
        found *= size
    return found


def may_crowd(rows: int, values: int | None) -> bool:
    """Whether one unit could choose values of its rows that fill a run.

    Args:
        rows: Of one unit, in the table.
        values: How many there are to choose from, or None.
    """
    return rows > 1 and (values is None or values > FEW_VALUES)


def is_keyed(rows: int, keys: Sequence[Facts]) -> bool:
    """Whether keys beside a unit key take a keyed hash: where it costs less than runs.

    Args:
        rows: Of one unit, in the table.
        keys: What is known of each key.
    """
    walked = WALKED_TEXTS if any(map(is_text, keys)) else WALKED_ROWS
    return rows > walked and may_crowd(rows, combinations(keys))


def is_text(facts: Facts) -> bool:
    """Whether a value is a text."""
    return facts.type is ColumnType.TEXT


def equated(
    condition: Expression | None, probed: Slots, held: Slots
) -> list[tuple[Expression, Expression]]:
    """Return the values that lead from a row to those held: of it, and of them."""
    found = []
    for part in () if condition is None else conjuncts(condition):
        if not is_equality(part):
            continue
        one, other = part.operands
        for own, theirs in ((one, other), (other, one)):
            reads = slots_read(own), slots_read(theirs)
            if all(reads) and reads[0] <= probed and reads[1] <= held:
                found.append((own, theirs))
    return found


def crowds_cells(plan: Aggregate, beside: int) -> bool:
    """Whether one unit could fill a run of a table by the cells of a plan.

    All units share that table, so it is not their own rows alone that walk there.

    Args:
        plan: Whose cells they are.
        beside: Values that are told apart in each cell.
    """
    cells = prod(len(key.values) for key in plan.keys)
    return may_crowd(plan.child.rows_per_unit, cells * beside)
