"""How far a ledger and its anchor came."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from budget.chain.entries import head_of
from budget.reading.listing import ENDS
from budget.storage.tables import chain, charge


@dataclass(frozen=True, slots=True)
class Position:
    """Where the ledger stands.

    Attributes:
        entries: How many there are, but for those that executions end with.
        unanchored: Entries after the one that the anchor has seen.
        failed: Charges that ended without an answer, once their replies have left.
    """

    entries: int
    unanchored: int
    failed: int


def read_position(
    connection: Connection, anchored: int, hidden: Collection[str]
) -> Position:
    """Return the position of a ledger whose anchor has seen entry ``anchored``.

    ``hidden``: questions whose ends nobody may know of yet.
    """
    last = head_of(connection).seq
    lasting = select(func.count()).select_from(chain).where(chain.c.kind.not_in(ENDS))
    failed = connection.execute(
        select(charge.c.query_id).where(charge.c.state == "failed")
    ).scalars()
    return Position(
        connection.execute(lasting).scalar_one(),
        max(0, last - anchored),
        len(set(failed) - set(hidden)),
    )
