"""Jobs as rows: claimed under a lease, kept alive by beats, ended once.

Who holds a job's lease is the only one that can write to the row; two claims are never
taken for each other, though one process made both. Leases run by the database's clock,
so that workers need not agree about the time. Every change of state is one statement,
the same on SQLite and PostgreSQL.
"""

import secrets
from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Update,
    and_,
    case,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from budget.storage.databases import Databases
from server.persistence.clock import now_ms
from server.persistence.tables import job, population
from server.use_cases.jobs.replies import JobState
from server.use_cases.services.errors import JobStoppedError, LeaseLostError
from server.use_cases.services.services import now_text, random_id

LEASE_MS = 15_000
MAX_ATTEMPTS = 3
ENDED = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be queued.

    Attributes:
        kind: A name of the registry.
        parameters: Canonical JSON.
        population: Whose custodians may see it, or None.
        actor: Who asked for it; its changes are recorded under this name.
        lineage: What is known of its inputs, JSON.
    """

    kind: str
    parameters: str
    population: str | None
    actor: str
    lineage: str


@dataclass(frozen=True, slots=True)
class Lease:
    """One claim of a job.

    Attributes:
        job_id: The job's.
        token: Names the claim; random, never used again.
    """

    job_id: str
    token: str


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as stored; the members that are JSON are still text.

    ``lease_boot`` is the token of the claim.
    """

    id: str
    kind: str
    parameters: str
    population: str | None
    actor: str
    created: str
    state: JobState
    attempts: int
    lease_boot: str | None
    lease_until_ms: int | None
    cancel_requested: bool
    stage: str | None
    done: int
    total: int | None
    position: str | None
    started: str | None
    ended: str | None
    result: str | None
    error: str | None
    lineage: str
    worked_ms: int

    @property
    def lease(self) -> Lease:
        """The claim that has the job; of one that nobody has, none that ever had."""
        return Lease(self.id, self.lease_boot or "")


def row_of(row: Row[tuple[object, ...]]) -> JobRow:
    """Read a row of the table."""
    return JobRow(**row._mapping)  # noqa: SLF001 - a public name, but for its dash


@dataclass(frozen=True, slots=True)
class Headway:
    """How far an attempt has come, in the unit of its stage."""

    stage: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a job ends: ``state`` is done, failed or cancelled."""

    state: str
    result: str | None = None
    error: str | None = None


def is_free() -> ColumnElement[bool]:
    """Return the condition on jobs that nobody works on."""
    return or_(
        job.c.state == "queued",
        and_(job.c.state == "running", job.c.lease_until_ms < now_ms()),
    )


def _queue() -> ColumnElement[str]:
    """Return in which queue a job is: its population's.

    A population that is not there is nobody's, and two people may name the same: what
    is about one, or about none, is in the queue of whoever asked.
    """
    known = job.c.population.in_(select(population.c.name))
    return case(
        (known, literal("population ") + job.c.population),
        else_=literal("actor ") + job.c.actor,
    )


class JobStore:
    """The table of jobs.

    Args:
        databases: Where the table is.
        lease_ms: How long a lease lasts after its last beat.
    """

    def __init__(self, databases: Databases, *, lease_ms: int = LEASE_MS) -> None:
        self._databases = databases
        self.lease_ms = lease_ms

    def submit(self, new: NewJob) -> str:
        """Queue a job and return its id."""
        job_id = random_id("job")
        row = {
            "id": job_id,
            "kind": new.kind,
            "parameters": new.parameters,
            "population": new.population,
            "actor": new.actor,
            "lineage": new.lineage,
            "created": now_text(),
            "state": "queued",
            "attempts": 0,
            "cancel_requested": False,
            "done": 0,
        }
        with self._databases.writer.begin() as connection:
            connection.execute(insert(job).values(**row))
        return job_id

    def waiting(self) -> list[str]:
        """Return the queues that hold a job that nobody works on."""
        queues = select(_queue()).where(is_free()).distinct()
        with self._databases.reader.connect() as connection:
            return list(connection.execute(queues).scalars())

    def at_end(self) -> list[str]:
        """Return the jobs that nobody works on and that need no more work.

        They were cancelled, or an attempt did all but say so: to be closed at once, and
        not at their turn.
        """
        closing = or_(job.c.cancel_requested, job.c.result.is_not(None))
        wanted = select(job.c.id).where(is_free(), closing)
        with self._databases.reader.connect() as connection:
            return list(connection.execute(wanted.order_by(job.c.created)).scalars())

    def claim(
        self, only: str | None = None, *, queue: str | None = None
    ) -> JobRow | None:
        """Take the oldest job that nobody works on, or None.

        ``only``: that one, or none. ``queue``: one of ``waiting``; None: of all.

        A job whose lease ran out is taken as it was left: with its position, and with
        its result where the last attempt had recorded one. The attempts that come
        back may be one more than ``MAX_ATTEMPTS``: then it is taken to be closed.
        """
        free = is_free()
        if only is not None:
            free = and_(free, job.c.id == only)
        if queue is not None:
            free = and_(free, _queue() == queue)
        oldest = (
            select(job.c.id)
            .where(free)
            .order_by(job.c.created, job.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        statement = (
            update(job)
            .where(job.c.id == oldest, free)
            .values(
                state="running",
                attempts=job.c.attempts + 1,
                lease_boot=secrets.token_hex(16),
                lease_until_ms=now_ms() + self.lease_ms,
                stage=None,
                done=0,
                total=None,
                started=case(
                    (job.c.started.is_(None), now_text()), else_=job.c.started
                ),
            )
            .returning(*job.c)
        )
        if not self._any_free(free):
            return None  # no write lock for looking
        with self._databases.work.begin() as connection:
            row = connection.execute(statement).one_or_none()
        return None if row is None else row_of(row)

    def _any_free(self, free: ColumnElement[bool]) -> bool:
        with self._databases.reader.connect() as connection:
            return connection.execute(select(job.c.id).where(free)).first() is not None

    def beat(
        self,
        lease: Lease,
        headway: Headway | None = None,
        worked_ms: int | None = None,
    ) -> bool:
        """Renew the lease, write how far the job is, and say whether to cancel it.

        Args:
            lease: The claim.
            headway: None: as it was said last.
            worked_ms: How long it was worked on, in all attempts; None: as before.

        Raises:
            LeaseLostError: Somebody else has the job now, or it has ended.
        """
        values: dict[str, object] = {"lease_until_ms": now_ms() + self.lease_ms}
        if headway is not None:
            values |= {
                "stage": headway.stage,
                "done": headway.done,
                "total": headway.total,
            }
        if worked_ms is not None:
            values["worked_ms"] = worked_ms
        statement = _held(lease).values(values).returning(job.c.cancel_requested)
        with self._databases.work.begin() as connection:
            cancel: bool | None = connection.execute(statement).scalar_one_or_none()
        if cancel is None:
            raise LeaseLostError
        return cancel

    def save(self, lease: Lease, **values: str) -> None:
        """Write a member of a job that a claim holds: position or lineage.

        Raises:
            LeaseLostError: Somebody else has the job now, or it has ended.
        """
        with self._databases.writer.begin() as connection:
            self.save_with(connection, lease, **values)

    def save_with(self, connection: Connection, lease: Lease, **values: str) -> None:
        """Write a member of a job, as ``save``, in the transaction of its work.

        Raises:
            LeaseLostError: As ``save``: roll back.
        """
        done = connection.execute(_held(lease).values(**values))
        if done.rowcount != 1:
            raise LeaseLostError

    def require_wanted(self, connection: Connection, lease: Lease) -> None:
        """Hold a job as one that nobody cancelled, until the transaction ends.

        Raises:
            JobStoppedError: It was cancelled, or is another's now: roll back.
        """
        wanted = _held(lease).where(job.c.cancel_requested.is_(False))
        held = connection.execute(wanted.values(cancel_requested=False))
        if held.rowcount != 1:
            raise JobStoppedError

    def conclude(self, connection: Connection, lease: Lease, **values: str) -> None:
        """Write result and lineage in the transaction that does what the job is for.

        From its commit on the job is done, whoever closes it; without it nothing was.

        Raises:
            JobStoppedError: It was cancelled, or is another's now: roll back.
        """
        done = connection.execute(
            _held(lease).where(job.c.cancel_requested.is_(False)).values(**values)
        )
        if done.rowcount != 1:
            raise JobStoppedError

    def finish(self, lease: Lease, ending: Ending) -> None:
        """End a job that a claim holds.

        Raises:
            LeaseLostError: Somebody else has the job now, or it has ended.
        """
        with self._databases.writer.begin() as connection:
            done = connection.execute(
                _held(lease).values(
                    state=ending.state,
                    result=ending.result,
                    error=ending.error,
                    done=(
                        func.coalesce(job.c.total, job.c.done)
                        if ending.state == "done"  # its last word may be a beat old
                        else job.c.done
                    ),
                    ended=now_text(),
                    lease_boot=None,
                    lease_until_ms=None,
                    attempts=case(
                        (job.c.attempts > MAX_ATTEMPTS, MAX_ATTEMPTS),
                        else_=job.c.attempts,
                    ),
                )
            )
            if done.rowcount != 1:
                raise LeaseLostError

    def give_up(self, lease: Lease) -> None:
        """Let go of a job so that another takes it at once; it costs no attempt."""
        with self._databases.writer.begin() as connection:
            connection.execute(
                _held(lease).values(
                    lease_boot=None, lease_until_ms=0, attempts=job.c.attempts - 1
                )
            )

    def requeue(self, lease: Lease) -> bool:
        """Put a job back where it was in its queue; it costs no attempt.

        Returns:
            Whether it ended instead, since it was cancelled meanwhile.
        """
        cancelled = job.c.cancel_requested
        statement = (
            _held(lease)
            .values(
                state=case((cancelled, "cancelled"), else_="queued"),
                ended=case((cancelled, now_text()), else_=job.c.ended),
                lease_boot=None,
                lease_until_ms=None,
                attempts=job.c.attempts - 1,
            )
            .returning(job.c.state)
        )
        with self._databases.writer.begin() as connection:
            state = connection.execute(statement).scalar_one_or_none()
        return state == "cancelled"

    def postpone(self, lease: Lease, wait_ms: int) -> None:
        """Let go of a job for a while; the attempt counts."""
        with self._databases.writer.begin() as connection:
            connection.execute(
                _held(lease).values(lease_boot=None, lease_until_ms=now_ms() + wait_ms)
            )

    def require_with(self, connection: Connection, lease: Lease) -> None:
        """Let nobody else take a job until a transaction's end.

        Raises:
            LeaseLostError: Somebody else has it now, or it has ended: roll back.
        """
        wanted = select(job.c.id).where(_is_held(lease)).with_for_update()
        if connection.execute(wanted).first() is None:
            raise LeaseLostError

    def is_held(self, connection: Connection, lease: Lease) -> bool:
        """Whether a claim is still the job's, in the transaction that asks."""
        wanted = select(job.c.id).where(_is_held(lease))
        return connection.execute(wanted).first() is not None

    def request_cancel(self, job_id: str) -> None:
        """Cancel a queued job at once, a running one at its next beat.

        One that has ended stays as it is.
        """
        queued = job.c.state == "queued"
        statement = (
            update(job)
            .where(job.c.id == job_id, job.c.state.in_(("queued", "running")))
            .values(
                cancel_requested=True,
                state=case((queued, "cancelled"), else_=job.c.state),
                ended=case((queued, now_text()), else_=job.c.ended),
            )
        )
        with self._databases.writer.begin() as connection:
            connection.execute(statement)

    def get(self, job_id: str) -> JobRow | None:
        """Return one job, or None."""
        with self._databases.reader.connect() as connection:
            row = connection.execute(
                select(job).where(job.c.id == job_id)
            ).one_or_none()
        return None if row is None else row_of(row)


def _is_held(lease: Lease) -> ColumnElement[bool]:
    """Return the condition on the job of a claim, while it has the job."""
    return and_(
        job.c.id == lease.job_id,
        job.c.state == "running",
        job.c.lease_boot == lease.token,
    )


def _held(lease: Lease) -> Update:
    """Return an update of a job, if a claim still has it."""
    return update(job).where(_is_held(lease))
