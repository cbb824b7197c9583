"""Who works on a charged question: one executor, at most three executions."""

from sqlalchemy import Connection, and_, bindparam, select, update

from budget.records import Orphan
from budget.tables import charge
from budget.writing import Write
from privacy.charges import Charge
from privacy.errors import LedgerUnavailableError
from privacy.losses import Loss

MAX_EXECUTIONS = 3
_ORPHANED = and_(charge.c.state == "running", charge.c.lease_boot.is_(None))

_HOLDER = select(charge.c.state, charge.c.lease_boot).where(
    charge.c.query_id == bindparam("query_id")
)
_SETTLE = (
    update(charge)
    .where(charge.c.query_id == bindparam("settled"))
    .values(state=bindparam("state"), lease_boot=None)
)


def require_held(connection: Connection, query_id: str, boot: str) -> None:
    """Refuse an executor whose lease was lost.

    Raises:
        LedgerUnavailableError: Somebody else has the question now, or it has ended.
    """
    row = connection.execute(_HOLDER, {"query_id": query_id}).one()
    if row.state != "running" or row.lease_boot != boot:
        message = "the lease of this question was lost"
        raise LedgerUnavailableError(message, query_id=query_id)


def settle(connection: Connection, query_id: str, state: str) -> None:
    """End a question's lease with its state."""
    connection.execute(_SETTLE, {"settled": query_id, "state": state})


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
            select(charge.c.query_id).where(_ORPHANED).order_by(charge.c.seq)
        ).scalars()
    )


def fail_exhausted(write: Write) -> None:
    """Fail the orphans that had all their executions."""
    exhausted = write.connection.execute(
        select(charge.c.query_id)
        .where(_ORPHANED, charge.c.attempts >= MAX_EXECUTIONS)
        .order_by(charge.c.seq)
    )
    for query_id in exhausted.scalars().all():
        fail(write, query_id)


def claim(connection: Connection, boot: str) -> list[Orphan]:
    """Lease every orphan to ``boot``. Writes no entry, so that no anchor can fail."""
    rows = connection.execute(
        select(charge).where(_ORPHANED).order_by(charge.c.seq)
    ).all()
    connection.execute(
        update(charge)
        .where(_ORPHANED)
        .values(lease_boot=boot, attempts=charge.c.attempts + 1)
    )
    return [
        Orphan(
            Charge(row.query_id, Loss(row.nano_epsilon)),
            row.principal,
            row.project,
            row.snapshot,
            row.request,
        )
        for row in rows
    ]
