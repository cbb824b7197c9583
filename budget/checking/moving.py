"""Moving a ledger into another database, under the one anchor that it has.

Two databases that both contain the anchor could each go on as the ledger. So the copy
gets one entry more than what it was copied from, and the anchor follows to it: from
then on no older file of the ledger contains the anchor, whoever kept one (ADR 58).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from budget.chain.anchor import AnchorFile, AnchorRecord, HeldAnchor, encode_record
from budget.chain.entries import Appender, Head, head_of, is_contained
from budget.chain.writing import MISMATCH, cap_totals
from budget.checking.verification import require_derived
from budget.storage.databases import Databases
from budget.storage.postgresql import DatabaseLostError
from budget.storage.tables import chain
from privacy.errors import AnchorMismatchError, CuratorError, LedgerUnavailableError

ACTION = "ledger.move"

Fill = Callable[[Connection, Connection], None]
Compare = Callable[[Connection, Connection, int], None]
Close = Callable[[Connection, Head], None]


class UnfinishedCopyError(CuratorError):
    """The target holds a copy of this ledger as it no longer is."""

    code = "refused"

    def __init__(self) -> None:
        super().__init__(
            "the target holds what an earlier move left, and the ledger went on since: "
            "nothing was changed; make another empty database, or drop that one and "
            "make it again, and move into it"
        )


@dataclass(frozen=True, slots=True)
class Steps:
    """What the owner of all tables does in a move.

    Attributes:
        fill: Fills an empty target from the source; leaves one that an earlier move
            filled; refuses any other.
        compare: Refuses unless both hold the same rows, of the chain up to a sequence.
        close: Makes the source unusable, saying which entry it ended with.
        recorded: The tables whose rows the entries make.
    """

    fill: Fill
    compare: Compare
    close: Close
    recorded: Sequence[Table]


@dataclass(frozen=True, slots=True)
class Moved:
    """Where the ledger stood when it was moved, and the entry that says so."""

    left: Head
    head: Head
    totals: Mapping[str, int]


def move(
    source: Databases, target: Databases, anchor: AnchorFile, steps: Steps, actor: str
) -> Moved:
    """Move a ledger; nobody writes to either database meanwhile.

    The target's commit, the source's closing and the anchor follow one another. Before
    the closing is committed the source serves; from then on the target does. What a
    crash cuts off, the same call ends.

    Raises:
        AnchorMismatchError: The ledger is not whole, or does not contain its anchor.
        UnfinishedCopyError: The target holds an older copy.
        LedgerUnavailableError: A database or the anchor cannot be written now.
    """
    try:
        with anchor.locked() as held:
            with source.writer.begin() as old:
                left = head_of(old)
                before, after = _copied(old, target, held, steps, actor)
                steps.close(old, left)
            if after != before:
                held.write(after)
    except (OSError, SQLAlchemyError, DatabaseLostError) as error:
        message = "a database or the anchor cannot be written now: type it again"
        raise LedgerUnavailableError(message) from error
    return Moved(left, after.head, after.totals)


def _copied(
    old: Connection, target: Databases, held: HeldAnchor, steps: Steps, actor: str
) -> tuple[AnchorRecord, AnchorRecord]:
    """Let the target hold the ledger and its move.

    Returns:
        The anchor as it is, and as it must be once the source is closed.
    """
    record = held.read()
    with target.writer.begin() as new:
        if not is_contained(old, record.ledger_id, record.head):
            _require_taken_over(new, head_of(old), record)
            return record, record
        record = _brought_forward(old, held, record, steps.recorded)
        steps.fill(old, new)
        return record, _taken_over(old, new, record, steps, actor)


def _brought_forward(
    old: Connection, held: HeldAnchor, record: AnchorRecord, recorded: Sequence[Table]
) -> AnchorRecord:
    """Return the anchor at the ledger's end, where a crash may have left it behind."""
    require_derived(old, recorded)
    head, totals = head_of(old), cap_totals(old)
    if head != record.head:
        after = record.generation + 1
        record = AnchorRecord(record.ledger_id, head, totals, after)
        held.write(record)
    _require_totals(old, record)
    return record


def _require_taken_over(new: Connection, left: Head, record: AnchorRecord) -> None:
    """Refuse a source without its anchor, but where the target went on from it.

    Somebody let the target serve before the closing of the source was committed.

    Raises:
        AnchorMismatchError: The target is not this ledger, or not moved from there.
    """
    heads = (left, record.head) if inspect(new).has_table(chain.name) else ()
    contained = [is_contained(new, record.ledger_id, head) for head in heads]
    if not contained or not all(contained):
        raise AnchorMismatchError(MISMATCH)
    body = new.execute(select(chain.c.body).where(chain.c.seq == left.seq + 1)).scalar()
    if body is None or json.loads(body).get("action") != ACTION:
        raise AnchorMismatchError(MISMATCH)


def _require_totals(connection: Connection, record: AnchorRecord) -> None:
    if cap_totals(connection) != dict(record.totals):
        message = (
            "the ledger's totals are not its anchor's: see 'curator ledger verify'"
        )
        raise AnchorMismatchError(message)


def _taken_over(
    old: Connection, new: Connection, record: AnchorRecord, steps: Steps, actor: str
) -> AnchorRecord:
    """Check the copy, let its chain go on with the move, and return its anchor."""
    head = head_of(new)
    if head.seq > record.head.seq + 1 or not is_contained(
        new, record.ledger_id, record.head
    ):
        raise UnfinishedCopyError
    steps.compare(old, new, record.head.seq)
    if head == record.head:
        head = _append(new, record, actor)
    require_derived(new, steps.recorded)
    _require_totals(new, record)
    after = AnchorRecord(record.ledger_id, head, record.totals, record.generation + 1)
    encode_record(after)
    return after


def _append(new: Connection, record: AnchorRecord, actor: str) -> Head:
    entries = Appender.at_once(new)
    left = {"entries": record.head.seq, "head": record.head.hash}
    facts = {"from": "sqlite", "to": "postgresql", **left}
    entries.append("admin", {"action": ACTION, "actor": actor, "facts": facts})
    return entries.head
