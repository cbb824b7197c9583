"""The top of a plan whose rows are sequences of units."""

from dataclasses import dataclass

from query_lang.plans.nodes import Node, Order


@dataclass(frozen=True, slots=True)
class UnitSequences:
    """The top of a plan: for each unit, its rows' symbols in order.

    Attributes:
        child: The rows.
        symbol: Slot of the symbol.
        order: Of the rows; completed by the child's identity.
        place: Slot of the row's own position, where positions without a row hold the
            last symbol (NULL); None: rows follow each other.
        group: Slot of the split's value, or None.
        max_length: The most symbols that are kept.

    Proof: docs/proofs/sequences.md.
    """

    child: Node
    symbol: int
    order: Order
    place: int | None
    group: int | None
    max_length: int
