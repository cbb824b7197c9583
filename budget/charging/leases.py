"""Who works on a charged question: one executor, at most three executions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    and_,
    bindparam,
    or_,
    select,
    update,
)

from budget.chain.entries import salted
from budget.chain.writing import Write
from budget.charging import server_processes
from budget.charging.queries import record_of
from budget.storage.prepared import Prepared, Row, Statement
from budget.storage.records import NO_PROJECT, Orphan, QueryRecord
from budget.storage.tables import charge
from privacy.charges import Charge
from privacy.errors import LedgerUnavailableError
from privacy.losses import Loss

MAX_EXECUTIONS = 3


@dataclass(frozen=True, slots=True)
class Holder:
    """One process as leases see it.

    ``shared``: other processes may serve the same ledger. Then a lease is lost when
    its row is not renewed any more, and an answer is marked as held by this process
    until its reply has left.
    """

    worker_id: str
    shared: bool

    @property
    def held_boot(self) -> str | None:
        """What marks an answer whose reply has not left."""
        return self.worker_id if self.shared else None

    def orphaned(self) -> ColumnElement[bool]:
        """Return the condition on questions that nobody works on.

        A job's work is its own lease's matter (``budget.charging.job_charges``).
        """
        free: ColumnElement[bool] = charge.c.lease_boot.is_(None)
        if self.shared:
            free = or_(free, self._dead(charge.c.lease_boot))
        is_question = charge.c.project != NO_PROJECT
        return and_(charge.c.state == "running", is_question, free)

    def stranded(self) -> ColumnElement[bool]:
        """Return the condition on answers held by a process that died."""
        return and_(charge.c.held_boot.is_not(None), self._dead(charge.c.held_boot))

    def _dead(self, column: ColumnElement[str]) -> ColumnElement[bool]:
        return and_(
            column != self.worker_id, column.not_in(server_processes.alive_ids())
        )


_HOLDER = Prepared(
    select(charge.c.state, charge.c.lease_boot).where(
        charge.c.query_id == bindparam("query_id")
    )
)
_SETTLE = Prepared(
    update(charge)
    .where(charge.c.query_id == bindparam("settled"))
    .values(
        state=bindparam("to_state"),
        lease_boot=None,
        held_boot=bindparam("to_held_boot"),
    )
)


_RELEASE = Prepared(
    update(charge)
    .where(
        charge.c.query_id == bindparam("released"),
        charge.c.held_boot == bindparam("ours"),
    )
    .values(held_boot=None)
)


def reading_holder(query_id: str) -> Statement:
    """Return what reads who has a question, for ``require_held``."""
    return Statement(_HOLDER, {"query_id": query_id})


def require_held(read: Sequence[Row], query_id: str, worker_id: str) -> None:
    """Refuse an executor whose lease was lost.

    Raises:
        LedgerUnavailableError: Somebody else has the question now, or it has ended.
    """
    ((state, holder),) = read
    if state != "running" or holder != worker_id:
        message = "the lease of this question was lost"
        raise LedgerUnavailableError(message, query_id=query_id)


def settle(write: Write, query_id: str, state: str, held_boot: str | None) -> None:
    """End a question's lease with its state; it shows once nobody holds it."""
    write.later(
        _SETTLE,
        {"settled": query_id, "to_state": state, "to_held_boot": held_boot},
    )


def fail(write: Write, query_id: str, held_boot: str | None = None) -> None:
    """End a question without an answer: final, and it shows no cause."""
    settle(write, query_id, "failed", held_boot)
    write.entries.append("failed", salted({"query_id": query_id}))


def give_up(connection: Connection, query_id: str, worker_id: str) -> None:
    """Give up a lease that is still ours."""
    connection.execute(
        update(charge)
        .where(
            charge.c.query_id == query_id,
            charge.c.state == "running",
            charge.c.lease_boot == worker_id,
        )
        .values(lease_boot=None)
    )


def void_others(connection: Connection, worker_id: str) -> None:
    """Void the leases of all other processes: one alone serves a SQLite ledger."""
    connection.execute(
        update(charge)
        .where(charge.c.state == "running", charge.c.lease_boot != worker_id)
        .values(lease_boot=None)
    )


def release(work: Engine, query_ids: Sequence[str], worker_id: str) -> None:
    """Show answers of ours: their replies leave now."""
    for query_id in query_ids:
        _RELEASE.alone(work, {"released": query_id, "ours": worker_id})


def held(connection: Connection) -> frozenset[str]:
    """Return the questions that some process holds until its reply has left."""
    wanted = select(charge.c.query_id).where(charge.c.held_boot.is_not(None))
    return frozenset(connection.execute(wanted).scalars())


def held_by(connection: Connection, worker_id: str) -> list[str]:
    """Return the questions that one process holds."""
    wanted = select(charge.c.query_id).where(charge.c.held_boot == worker_id)
    return list(connection.execute(wanted).scalars())


def is_any(connection: Connection, condition: ColumnElement[bool]) -> bool:
    """Whether some charge meets a condition."""
    found = connection.execute(select(charge.c.query_id).where(condition).limit(1))
    return found.first() is not None


def take_stranded(connection: Connection, holder: Holder) -> list[QueryRecord]:
    """Hold, in place of processes that died, what they had not released."""
    rows = connection.execute(
        select(charge).where(holder.stranded()).order_by(charge.c.seq)
    ).all()
    connection.execute(
        update(charge)
        .where(charge.c.query_id.in_([row.query_id for row in rows]))
        .values(held_boot=holder.worker_id)
    )
    return [record_of(row) for row in rows]


def fail_exhausted(
    write: Write, holder: Holder, drawn: Collection[str] = frozenset()
) -> None:
    """Fail the orphans that had all their executions, and those that were drawn.

    Args:
        write: The transaction.
        holder: The process that takes orphans up.
        drawn: Questions whose noise was drawn by a process that could not store it, and
            that are lost with it: none is drawn anew.
    """
    over = or_(
        charge.c.attempts >= MAX_EXECUTIONS, charge.c.query_id.in_(sorted(drawn))
    )
    exhausted = write.connection.execute(
        select(charge.c.query_id).where(holder.orphaned(), over).order_by(charge.c.seq)
    )
    for query_id in exhausted.scalars().all():
        fail(write, query_id, holder.held_boot)  # shown once this entry is anchored


def running_of(connection: Connection, query_ids: Collection[str]) -> frozenset[str]:
    """Return those of some questions whose charge has not ended."""
    wanted = select(charge.c.query_id).where(
        charge.c.query_id.in_(sorted(query_ids)), charge.c.state == "running"
    )
    return frozenset(connection.execute(wanted).scalars())


def orphaned_of(holder: Holder, unreadable: frozenset[str]) -> ColumnElement[bool]:
    """Return the condition on orphans, but for those of some snapshots."""
    return and_(holder.orphaned(), charge.c.snapshot.not_in(sorted(unreadable)))


def claim(
    connection: Connection,
    holder: Holder,
    unreadable: frozenset[str] = frozenset(),
) -> list[Orphan]:
    """Lease every orphan to a process. Writes no entry, so that no anchor can fail.

    But for those of snapshots that cannot be read.
    """
    rows = connection.execute(
        select(charge)
        .where(orphaned_of(holder, unreadable), charge.c.attempts < MAX_EXECUTIONS)
        .order_by(charge.c.seq)
    ).all()
    connection.execute(
        update(charge)
        .where(charge.c.query_id.in_([row.query_id for row in rows]))
        .values(lease_boot=holder.worker_id, attempts=charge.c.attempts + 1)
    )
    return [
        Orphan(
            Charge(row.query_id, Loss(row.nano_epsilon)),
            row.principal,
            row.project,
            row.snapshot,
            row.time,
            row.request,
        )
        for row in rows
    ]
