"""What a statement about sequences costs: symbols looked up, ordered and joined."""

from privacy.schema import ColumnType, Dataset
from query_lang.costs.amounts import Amount, Meter
from query_lang.costs.constants import (
    BYTES_A_STEP,
    FETCHED_ROW_BYTES,
    FETCHED_ROW_STEPS,
    FETCHED_VALUE_STEPS,
    GROUPS_BYTES,
    JOIN_ROW_STEPS,
    JOIN_VALUE_STEPS,
    MARK_BYTES,
    MARK_STEPS,
    NUMBER_BYTES,
    ORDERED_GROUP_BYTES,
    ORDERED_ROW_STEPS,
    ROW_BYTES,
    SORT_STEPS,
    TABLE_BYTES,
    TABLE_TEXT_BYTES,
)
from query_lang.costs.hashes import hashed, looked_up
from query_lang.costs.nodes import NodeCosts
from query_lang.costs.orders import order_key, sort
from query_lang.costs.plans import ALL_ROWS, StatementCosts, Tables
from query_lang.plans.dimensions import CubeDimension
from query_lang.plans.expressions import Facts, slots_read
from query_lang.plans.nodes import tie_break
from query_lang.plans.sequences import UnitSequences
from query_lang.rendering.keyed_hashes import dimension_facts


def sequence_costs(
    made: UnitSequences,
    dimensions: tuple[CubeDimension, CubeDimension | None],
    dataset: Dataset,
    text: str,
    tables: Tables = ALL_ROWS,
) -> StatementCosts:
    """Return what a statement about sequences takes; arguments as of queries."""
    meter = Meter(dataset.max_units, dataset.hierarchies, tables)
    costs = NodeCosts(meter)
    child = made.child
    wanted = {child.owner, made.symbol, *tie_break(child)}
    wanted |= slots_read(made.order.value)
    wanted |= {slot for slot in (made.place, made.group) if slot is not None}
    below = costs.gathered(child, frozenset(wanted))
    costs.evaluate("sequences", [made.order.value], below)
    steps = 2 * (JOIN_ROW_STEPS + JOIN_VALUE_STEPS * len(below.widths))
    steps += MARK_STEPS + ORDERED_ROW_STEPS + below.row_bytes // BYTES_A_STEP
    steps += SORT_STEPS * below.rows.unit.bit_length()
    meter.spend("sequences", below.rows, steps)
    for slot, listed in zip((made.symbol, made.group), dimensions, strict=True):
        if slot is not None and listed is not None:
            known = [(dimension_facts(listed), below.widths[slot])]
            looked_up(meter, "sequences", below.rows, len(listed.stored), known)
    meter.hold("sequences", below.rows, ROW_BYTES + below.row_bytes + MARK_BYTES)
    if made.place is not None:  # the gaps between periods are filled first
        key = order_key([made.order.value], below, dataset.hierarchies)
        sort(meter, "sequences", below, [key], [NUMBER_BYTES] * 2)
    units = below.rows.at_most(Amount(1, dataset.max_units))
    pages = GROUPS_BYTES + 2 * (TABLE_BYTES + TABLE_TEXT_BYTES)
    meter.start("sequences", 0, pages)
    marks = MARK_BYTES * made.max_length
    meter.spend(
        "sequences", units, 2 * FETCHED_ROW_STEPS + 2 * FETCHED_VALUE_STEPS + marks
    )
    hashed(meter, "sequences", units, [(Facts(ColumnType.TEXT), marks)])
    meter.hold("sequences", units, ORDERED_GROUP_BYTES + FETCHED_ROW_BYTES + 4 * marks)
    return StatementCosts((meter,), len(text))
