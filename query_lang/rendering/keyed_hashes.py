"""Where hash tables take a keyed hash: where values could be chosen that fill a run.

The engine's own hash has no key and can be inverted. Values that somebody chose, of
hashes that end alike, lie in one run of a table, through which each further row of them
walks: k rows take k * k steps. Whoever writes a text chooses too: its constants, and
which of the declared values WHERE lets through. So what is looked up by values is also
looked up by a hash of them with a secret, which changes no result, as equal values have
equal hashes. For the rendering and for the cost alike. Proof: docs/proofs/plan_cost.md.
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Final

from privacy.schema import ColumnType, Scalar, ValuesDomain
from query_lang.plans.dimensions import CubeDimension
from query_lang.plans.domains import cell_count
from query_lang.plans.expressions import (
    Expression,
    Facts,
    FieldRef,
    conjuncts,
    is_equality,
    slots_read,
)
from query_lang.plans.nodes import (
    Aggregate,
    BoundContributions,
    Compute,
    Filter,
    Node,
    PublicFilter,
    PublicJoin,
    PublicNode,
    PublicScan,
    Rollup,
    Scan,
    Union,
    UnitJoin,
    Windowed,
    slots_of,
)

WALKED_ROWS: Final = 2
WALKED_TEXTS: Final = 20
"""Rows of one unit whose run costs less than keyed hashes: of numbers and listed texts,
and of other texts."""

FEW_CELLS: Final = 8
"""So many cells of stored columns stay apart in the 4,096 places of the least table."""

LEAST_PLACES: Final = 4_096
"""Of a table of rows or groups."""

LISTED_TEXTS: Final = 64
LISTED_BYTES: Final = 64
"""So many public texts, so long, are numbered faster than one is digested."""

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


def longest_run(rows: int, keys: Iterable[Facts]) -> int:
    """Return how many places a unit's rows can fill in a row, beside its unit key.

    Rows of equal values share a place, whoever chose them.

    Args:
        rows: Of one unit, in the table.
        keys: What is known of each key.
    """
    values = combinations(keys)
    return rows if values is None else min(rows, values)


def crowding_rows(held: Node | PublicNode, values: Iterable[Expression]) -> int:
    """Return how many rows that a join holds could have values that were chosen.

    Args:
        held: Of one unit's rows; or a public table, in whose columns stands what its
            custodian put there: what a text computes of them was chosen, and which of
            many rows its conditions let through.
        values: By which they are looked up.
    """
    if not isinstance(held, PublicScan | PublicFilter):
        return held.rows_per_unit
    is_computed = not all(isinstance(value, FieldRef) for value in values)
    crowds = is_computed or aimed_run(held) > WALKED_ROWS
    return _scanned(held).table.max_rows if crowds else 0


def aimed_run(held: PublicScan | PublicFilter) -> int:
    """Return how many places in a row the rows of a public table can be made to fill.

    By conditions that let through, of all its rows, those of one place.
    """
    if isinstance(held, PublicScan):
        return 1
    return _scanned(held).table.max_rows // LEAST_PLACES + 1


def _scanned(held: PublicScan | PublicFilter) -> PublicScan:
    while isinstance(held, PublicFilter):
        held = held.child
    return held


def dimension_facts(dimension: CubeDimension) -> Facts:
    """Return what is known of a dimension's values as they are stored."""
    values = tuple(value for value in dimension.stored if value is not None)
    is_of_texts = any(isinstance(value, str) for value in values)
    kind = ColumnType.TEXT if is_of_texts else ColumnType.INTEGER
    has_null = len(values) < len(dimension.stored)
    return Facts(kind, nullable=has_null, domain=ValuesDomain(values))


def may_crowd(run: int) -> bool:
    """Whether so many places, filled one after the other, delay anything."""
    return run > 1


def is_keyed(rows: int, keys: Sequence[Facts]) -> bool:
    """Whether keys beside a unit key take a keyed hash: where it costs less than runs.

    Args:
        rows: Of one unit, in the table.
        keys: What is known of each key.
    """
    walked = WALKED_TEXTS if any(map(is_digested, keys)) else WALKED_ROWS
    run = longest_run(rows, keys)
    return run > walked and may_crowd(run)


def listed_texts(facts: Facts) -> tuple[Scalar, ...]:
    """Return the public texts of which a value is one, if they are few and short."""
    if not is_text(facts) or not isinstance(facts.domain, ValuesDomain):
        return ()
    values = facts.domain.all_values()
    short = all(len(str(value).encode()) <= LISTED_BYTES for value in values)
    return values if len(values) <= LISTED_TEXTS and short else ()


def is_digested(facts: Facts) -> bool:
    """Whether the keyed hash of a value is one of its digest."""
    return is_text(facts) and not listed_texts(facts)


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


def crowds_cells(plan: Aggregate, beside: int = 1, slot: int | None = None) -> bool:
    """Whether the cells of a plan could fill a run of a table.

    All units share that table: a single row that is a cell's first is one place more
    for every row of all others. So it is keyed whatever a unit owns, and however few
    cells there are, unless nobody but the custodian chose what they are.

    Args:
        plan: Whose cells they are.
        beside: Values that are told apart in each cell.
        slot: Of those values; None: bins, or none.
    """
    cells = beside * prod(len(key.values) for key in plan.keys)
    slots = [key.slot for key in plan.keys] + ([] if slot is None else [slot])
    few = cells <= FEW_CELLS and all(is_stored(plan.child, each) for each in slots)
    return not few and may_crowd(cells)


def is_stored(node: Node | PublicNode, slot: int) -> bool:  # noqa: PLR0911 - an arm a form
    """Whether a slot holds values of a stored column, or none, as they were declared.

    What computes a value may choose it: CASE, COALESCE, arithmetic, parts of UNION ALL.
    """
    match node:
        case Scan() | PublicScan():
            return 0 <= slot - node.first_slot < len(node.table.columns)
        case Compute(child, items) | Rollup(child, keys=items):
            made = dict(items)
            if slot not in made:
                return slot in slots_of(child) and is_stored(child, slot)
            value = made[slot]
            return isinstance(value, FieldRef) and is_stored(child, value.slot)
        case UnitJoin(left, right) | PublicJoin(left, right):
            return is_stored(left if slot in slots_of(left) else right, slot)
        case Union(parts, columns) if slot in columns:
            place = columns.index(slot)
            given = [(part.node, part.items[place]) for part in parts]
            return all(
                isinstance(item, FieldRef) and is_stored(part, item.slot)
                for part, item in given
            )
        case Filter(child) | PublicFilter(child) | BoundContributions(child):
            return is_stored(child, slot)
        case Windowed(child):
            return slot in slots_of(child) and is_stored(child, slot)
        case _:
            return False
