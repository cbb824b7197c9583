"""Who works on a charged question: one executor, at most three executions."""

from sqlalchemy import Connection, select, update

from budget.records import Orphan
from budget.tables import charge
from budget.writing import Write
from privacy.charges import Charge
from privacy.errors import LedgerUnavailableError
from privacy.losses import Loss

MAX_EXECUTIONS = 3


def require_held(connection: Connection, query_id: str, boot: str) -> None:
    """Refuse an executor whose lease was lost.

    Raises:
        LedgerUnavailableError: Somebody else has the question now, or it has ended.
    """
    row = connection.execute(
        select(charge.c.state, charge.c.lease_boot).where(charge.c.query_id == query_id)
    ).one()
    if row.state != "running" or row.lease_boot != boot:
        message = "the lease of this question was lost"
        raise LedgerUnavailableError(message, query_id=query_id)


def settle(connection: Connection, query_id: str, state: str) -> None:
    """End a question's lease with its state."""
    connection.execute(
        update(charge)
        .where(charge.c.query_id == query_id)
        .values(state=state, lease_boot=None)
    )


def fail(write: Write, query_id: str) -> None:
    """End a question without an answer: final, and it shows no cause."""
    settle(write.connection, query_id, "failed")
    write.entries.append("failed", {"query_id": query_id})


def give_up(connection: Connection, query_id: str, boot: str) -> None:
    """Give up a lease that is still ours."""
    connection.execute(
        update(charge)
        .where(
            charge.c.query_id == query_id,
            charge.c.state == "running",
            charge.c.lease_boot == boot,
        )
        .values(lease_boot=None)
    )


def void_others(connection: Connection, boot: str) -> None:
    """Void the leases of every other boot: one process serves one SQLite ledger."""
    connection.execute(
        update(charge)
        .where(charge.c.state == "running", charge.c.lease_boot != boot)
        .values(lease_boot=None)
    )


def orphaned(connection: Connection) -> list[str]:
    """Return the charges that nobody works on, oldest first."""
    return list(
        connection.execute(
            select(charge.c.query_id)
            .where(charge.c.state == "running", charge.c.lease_boot.is_(None))
            .order_by(charge.c.seq)
        ).scalars()
    )


def claim(write: Write, boot: str) -> list[Orphan]:
    """Lease every orphan to ``boot``; fail those that had all their executions."""
    claimed = []
    for query_id in orphaned(write.connection):
        row = write.connection.execute(
            select(charge).where(charge.c.query_id == query_id)
        ).one()
        if row.attempts >= MAX_EXECUTIONS:
            fail(write, query_id)
            continue
        write.connection.execute(
            update(charge)
            .where(charge.c.query_id == query_id)
            .values(lease_boot=boot, attempts=row.attempts + 1)
        )
        claimed.append(
            Orphan(
                Charge(query_id, Loss(row.nano_epsilon)),
                row.principal,
                row.project,
                row.snapshot,
                row.request,
            )
        )
    return claimed
