"""Going on after a restore: each cap pays for what the anchor saw.

A restored ledger has forgotten charges, and perhaps answers that were sent. So each
population, or block of one, is charged the difference to the anchor's total, every
unfinished charge
fails (its answer may have been seen, and fresh noise for it would be unpaid), and the
caller disables all keys, since a restore revives revoked ones.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, select, update
from sqlalchemy.exc import SQLAlchemyError

from budget.chain.anchor import AnchorFile, AnchorRecord, HeldAnchor, encode_record
from budget.chain.entries import Head, head_of, is_contained, ledger_id_of
from budget.chain.recorded import RecordedTransaction
from budget.chain.writing import (
    cap_totals,
    ensure_counter,
    open_write,
)
from budget.storage.databases import Databases
from budget.storage.records import Scope
from budget.storage.tables import charge, counter
from privacy.errors import AnchorMismatchError, CuratorError, LedgerUnavailableError
from privacy.losses import Loss

Also = Callable[[RecordedTransaction], None]


class NothingToReconcileError(CuratorError):
    """The ledger contains its anchor: it may simply go on."""

    code = "nothing_to_reconcile"

    def __init__(self) -> None:
        super().__init__("the ledger contains its anchor: there is nothing to do")


def reconcile(
    databases: Databases, anchor: AnchorFile, reason: str, actor: str, also: Also
) -> None:
    """Write the reconcile entry and a new anchor.

    The entry takes the greater of both sequences plus 1 and names both heads. Where
    the anchor cannot be read, or is another ledger's, every cap becomes 0 until it is
    raised again.

    Args:
        databases: Of the ledger.
        anchor: Made anew where it is missing.
        reason: Why; recorded.
        actor: Who; recorded.
        also: Further changes of the same entry (disabling keys).

    Raises:
        NothingToReconcileError: The ledger contains its anchor.
        AnchorMismatchError: There is no ledger.
        LedgerUnavailableError: Database or anchor cannot be written; once they can,
            the same command ends what was begun and charges nothing twice.
    """
    try:
        _reconcile(databases, anchor, Why(reason, actor), also)
    except (OSError, SQLAlchemyError) as error:
        message = "the ledger or its anchor cannot be written: reconcile again"
        raise LedgerUnavailableError(message) from error


@dataclass(frozen=True, slots=True)
class Why:
    """Whose decision it is to go on, and the reason given."""

    reason: str
    actor: str


def _reconcile(databases: Databases, anchor: AnchorFile, why: Why, also: Also) -> None:
    if not anchor.path.exists():
        with databases.writer.begin() as connection:
            record = _append(connection, None, why, also)
        anchor.create(record)
        return
    with anchor.locked() as held:
        before = _read(held)
        with databases.writer.begin() as connection:
            record = _append(connection, before, why, also)
        held.write(record)


def _read(held: HeldAnchor) -> AnchorRecord | None:
    try:
        return held.read()
    except AnchorMismatchError:
        return None


def _append(
    connection: Connection,
    before: AnchorRecord | None,
    why: Why,
    also: Also,
) -> AnchorRecord:
    ledger_id = ledger_id_of(connection)
    if ledger_id is None:
        message = "there is no ledger here to reconcile"
        raise AnchorMismatchError(message)
    known = before if before is not None and before.ledger_id == ledger_id else None
    if known is not None and is_contained(connection, ledger_id, known.head):
        raise NothingToReconcileError
    write = open_write(connection, head_of(connection))
    change = RecordedTransaction(write)
    charged = {} if known is None else _charge_difference(connection, known)
    if known is None:
        _close_all(connection, change)
    failed = _fail_unfinished(connection)
    also(change)
    head = write.entries.head
    seen = Head(0, "") if before is None else before.head
    write.entries.append(
        "reconcile",
        {
            "action": "ledger.reconcile",
            "actor": why.actor,
            "ledger_head": {"seq": head.seq, "hash": head.hash},
            "anchor_head": {"seq": seen.seq, "hash": seen.hash},
            "charged": charged,
            "failed": failed,
            **change.body({"reason": why.reason}),
        },
        seq=max(head.seq, seen.seq) + 1,
    )
    generation = 0 if before is None else before.generation + 1
    write.flush()
    totals = cap_totals(connection)
    record = AnchorRecord(ledger_id, write.entries.head, totals, generation)
    encode_record(record)  # better known before the commit
    return record


def _charge_difference(connection: Connection, known: AnchorRecord) -> dict[str, int]:
    """Charge each cap what the anchor saw and the ledger forgot.

    A block is charged the most that any block of its population is: whoever was loaded
    since the backup may be loaded again in another block, and lost that much at most.
    """
    spent = cap_totals(connection)
    own = {name: total - spent.get(name, 0) for name, total in known.totals.items()}
    charged = {}
    for name in {**spent, **own}:
        forgotten = max((own[each] for each in own if _shares(name, each)), default=0)
        if forgotten > 0:
            scope = Scope.of_total(name)
            ensure_counter(connection, scope)
            connection.execute(
                update(counter)
                .where(counter.c.scope == str(scope))
                .values(nano_epsilon=counter.c.nano_epsilon + forgotten)
            )
            charged[str(scope)] = forgotten
    return charged


def _shares(name: str, other: str) -> bool:
    """Whether totals are one, or of two blocks of one population."""
    of_block, population = "/" in name, name.partition("/")[0]
    return name == other or (of_block and other.partition("/")[0] == population)


def _close_all(connection: Connection, change: RecordedTransaction) -> None:
    for name in cap_totals(connection):
        change.set_limit(Scope.of_total(name), Loss(0))


def _fail_unfinished(connection: Connection) -> list[str]:
    unfinished = list(
        connection.execute(
            select(charge.c.query_id)
            .where(charge.c.state == "running")
            .order_by(charge.c.seq)
        ).scalars()
    )
    connection.execute(
        update(charge)
        .where(charge.c.state == "running")
        .values(state="failed", lease_boot=None, held_boot=None)
    )
    return unfinished
