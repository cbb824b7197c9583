"""What orders cost: of windows, bounds and sequences, and of FIRST and LAST.

The engine writes all terms of an order of a row, those of PARTITION BY among them, one
after the other as one key. It makes the keys of a vector of rows at once and keeps each
beside its row: computed or stored, once or many times, each term counts in full.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from privacy.schema import Hierarchy
from query_lang.costs.amounts import Amount, Meter, Relation, paged
from query_lang.costs.constants import (
    BIN_STEPS,
    BIN_TERM_STEPS,
    BYTES_A_STEP,
    CHOICE_BYTES,
    KEPT_BYTE_STEPS,
    NEXT_ORDER_BYTES,
    NUMBER_BYTES,
    ORDER_BINS,
    ORDER_BYTES,
    ORDER_TEXT_BYTES,
    ORDERED_BYTE_STEPS,
    ORDERED_GROUP_BYTES,
    ORDERED_ROW_STEPS,
    ROW_BYTES,
    SORT_KEY_BYTE_STEPS,
    SORT_KEY_SHARE,
    SORT_STEPS,
    SORT_TERM_BYTES,
    SORT_TERM_STEPS,
    SORT_TEXT_BYTES_A_STEP,
    SORT_TEXT_STEPS,
    SORTED_BYTE_STEPS,
    SORTED_BYTES_SHARE,
    STARTED_CHOICE,
    STARTED_COLUMN,
    STARTED_ORDER,
    STARTED_TERM,
    TEXT_STATE_COPIES,
    TEXT_STATE_STEPS,
    WINDOW_ROW_STEPS,
    WINDOW_VALUE_STEPS,
)
from query_lang.costs.expressions import ExpressionCost, is_text
from query_lang.plans.expressions import Expression

_NUMBER_TERM = NUMBER_BYTES + SORT_TERM_BYTES
_ORDERS_HELD = 2  # an order's rows are let go while the next one is made of them


@dataclass(frozen=True, slots=True)
class OrderKey:
    """The terms of an order.

    Attributes:
        widths: Bytes of each term.
        texts: Of those that are texts.
        splits: Whether the rows of one unit may lie in several partitions.
    """

    widths: tuple[int, ...] = ()
    texts: tuple[int, ...] = ()
    splits: bool = False

    @property
    def size(self) -> int:
        """Return the bytes of a row's key."""
        return sum(self.widths) + SORT_TERM_BYTES * len(self.widths)

    def compared(self) -> int:
        """Return the steps of comparing the texts of two keys."""
        return sum(
            SORT_TEXT_STEPS + width // SORT_TEXT_BYTES_A_STEP for width in self.texts
        )


def order_key(
    terms: Iterable[Expression],
    rows: Relation,
    own: Mapping[str, Hierarchy],
    *,
    splits: bool = False,
) -> OrderKey:
    """Return the key of some terms over rows."""
    cost = ExpressionCost(rows.widths, own)
    widths = [(cost.width(term), is_text(term)) for term in terms]
    return OrderKey(
        tuple(width for width, _ in widths),
        tuple(width for width, text in widths if text),
        splits,
    )


def sort(
    meter: Meter,
    construct: str,
    below: Relation,
    orders: Sequence[OrderKey],
    given: Iterable[int],
) -> None:
    """Count orders of all rows, one after the other: two are held at once.

    Args:
        meter: Counts.
        construct: What sorts.
        below: The rows.
        orders: The keys of each order.
        given: Bytes of each value that the orders give their rows.
    """
    if not orders:  # no value of theirs is read, so none is made
        return
    made = tuple(given)
    values = len(below.widths) + len(made)
    doublings = below.rows.whole.bit_length()
    steps = WINDOW_ROW_STEPS + WINDOW_VALUE_STEPS * values
    steps += below.row_bytes * SORTED_BYTE_STEPS + SORT_STEPS * doublings
    for place, key in enumerate(orders):
        more = sum(key.texts) * SORT_KEY_BYTE_STEPS + doublings * key.compared()
        more += SORT_TERM_STEPS * len(key.widths)
        meter.spend(construct, below.rows, steps + more)
        _start(meter, construct, below, key, is_first=place == 0)
    texts = sum(width for width in made if width > NUMBER_BYTES)
    carried = texts * SORTED_BYTE_STEPS * (len(orders) - 1) // 2
    meter.spend(construct, below.rows, len(orders) * carried)
    size = 2 * ROW_BYTES + below.row_bytes + (len(made) + 2) * NUMBER_BYTES
    size += below.row_bytes // SORTED_BYTES_SHARE
    longest = max(key.size for key in orders)
    beyond = max(0, longest - 2 * _NUMBER_TERM)  # two numbers lie in the rows' own
    size += beyond + beyond // SORT_KEY_SHARE
    if len(orders) > 1:  # what one order gave is carried through the next
        size += paged(texts)
    meter.hold(construct, below.rows, min(len(orders), _ORDERS_HELD) * size)
    meter.unpack(construct, below.rows, longest)


def _start(
    meter: Meter, construct: str, below: Relation, key: OrderKey, *, is_first: bool
) -> None:
    """Count what an order begins, and the bins that its partitions fall into.

    How many bins one unit fills, its rows decide; the work is done once for each.
    """
    rows, columns = below.rows, len(below.widths)
    terms = 1 + len(key.widths)
    pages = ORDER_BYTES if is_first else NEXT_ORDER_BYTES
    if is_first and (below.has_texts or key.texts):
        pages += ORDER_TEXT_BYTES
    started = STARTED_ORDER + STARTED_TERM * terms + STARTED_COLUMN * columns
    meter.start(construct, started, pages)
    steps = BIN_STEPS + BIN_TERM_STEPS * terms
    own = min(rows.unit, ORDER_BINS) if key.splits else 1
    meter.start(construct, own * steps)
    others = max(0, min(rows.whole, ORDER_BINS) - own)
    meter.spend(construct, Amount(0, others), steps)


def choose(
    meter: Meter,
    below: Relation,
    groups: Amount,
    value: OrderKey,
    order: OrderKey,
) -> None:
    """Count a FIRST or LAST: each group keeps a value and the key of its order."""
    texts = sum(value.texts) + sum(order.texts)
    steps = ORDERED_ROW_STEPS + below.row_bytes // BYTES_A_STEP
    steps += SORT_STEPS * below.rows.unit.bit_length() + texts * ORDERED_BYTE_STEPS
    meter.spend("GROUP BY", below.rows, steps)
    if texts:
        kept = TEXT_STATE_STEPS + texts * KEPT_BYTE_STEPS
        meter.spend("GROUP BY", groups, kept)
    meter.hold("GROUP BY", below.rows, ROW_BYTES + below.row_bytes)
    meter.start("GROUP BY", STARTED_CHOICE, CHOICE_BYTES)
    state = ORDERED_GROUP_BYTES + TEXT_STATE_COPIES * (sum(value.texts) + order.size)
    meter.hold("GROUP BY", groups, state)
    meter.unpack("GROUP BY", below.rows, sum(value.texts) + order.size)
