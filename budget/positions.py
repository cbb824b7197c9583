"""How far a ledger and its anchor came."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from budget.chain import head_of
from budget.tables import charge


@dataclass(frozen=True, slots=True)
class Position:
    """Where the ledger stands.

    Attributes:
        entries: The last entry's sequence.
        unanchored: Entries after the one that the anchor has seen.
        failed: Charges that ended without an answer.
    """

    entries: int
    unanchored: int
    failed: int


def read_position(connection: Connection, anchored: int) -> Position:
    """Return the position of a ledger whose anchor has seen entry ``anchored``."""
    last = head_of(connection).seq
    failed = connection.execute(
        select(func.count()).select_from(charge).where(charge.c.state == "failed")
    ).scalar_one()
    return Position(last, max(0, last - anchored), failed)
