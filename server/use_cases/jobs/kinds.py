"""What a kind of job is, and what its run may use."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypedDict

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection

from privacy.errors import CuratorError
from server.use_cases.jobs.store import Headway, JobRow, JobStore, Lease
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import JobStoppedError


class JobParameters(BaseModel):
    """What a job is told; unknown members are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is known of a job before it is queued.

    Attributes:
        parameters: As they are stored: complete, paths absolute.
        population: Whose custodians may see the job, or None.
        inputs: What it will read, for its lineage.
    """

    parameters: JobParameters
    population: str | None
    inputs: list[Document]


class UnpreparedError(CuratorError):
    """What a job would read is not there, or is wrong.

    Over HTTP only custodians of ``population`` are told; None: it names none.
    """

    code = "refused"

    def __init__(self, message: str, population: str | None) -> None:
        self.population = population
        super().__init__(message)


class Lineage(TypedDict):
    """Where a job's result comes from: what was read, by which code, what was made."""

    inputs: list[Document]
    code_version: str
    outputs: list[Document]


class JobKind(Protocol):
    """One kind of job.

    ``run`` must be idempotent: it may be killed at any point and run again. What it is
    for, it does in one transaction together with ``JobContext.conclude``; a job that
    charges uses its own id as the charge's.
    """

    @property
    def name(self) -> str:
        """The kind's name, such as ``dataset.load``."""
        ...

    @property
    def parameters(self) -> type[JobParameters]:
        """The model of its parameters."""
        ...

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Check parameters before queueing; reads no patient's row.

        Raises:
            UnpreparedError: What they name is not there, or is wrong.
            CuratorError: They do not serve, by themselves; the sentence says why.
        """
        ...

    def run(self, context: "JobContext", parameters: JobParameters) -> Document:
        """Do the work and return its result.

        Raises:
            CuratorError: It was refused; the sentence becomes the job's error.
            JobStoppedError: The context told it to stop.
        """
        ...

    def unbegun(self) -> list[str]:
        """Return the jobs that ``begin`` is due for now, oldest first."""
        ...

    def begin(self, context: "JobContext", parameters: JobParameters) -> None:
        """Do what others are told the time of, before the job's turn comes.

        When its turn comes tells how long the jobs before it took, which is told to
        custodians alone (PRIVACY 2).

        Raises:
            CuratorError: It was refused; the sentence becomes the job's error.
            JobStoppedError: The context told it to stop.
        """
        ...

    def settle(self) -> None:
        """End what ended jobs had begun, such as one that was cancelled in the queue.

        Raises:
            LedgerUnavailableError: Not now; a worker does it later.
        """
        ...

    def clean(self) -> None:
        """Remove what killed or cancelled attempts left behind; may do nothing.

        Of all populations, in the queue of one: so it takes no longer for more rows.
        """
        ...

    def discard(self, context: "JobContext", *, is_over: bool) -> None:
        """Delete rows that ended jobs of the job's population left; may do nothing.

        Before each attempt, and where the job ends with nothing, before it ends: it
        is held meanwhile, and the time is its own.

        Args:
            context: Of the job.
            is_over: The job ends with nothing: what it made itself goes, too.
        """
        ...

    def holds_queue(self, result: Document | None) -> bool:
        """Whether the job ends at the end of a slot, and the next one begins there.

        So it is where what was worked on decides when a job ends, and nothing of the
        job itself has waited for a slot.

        Args:
            result: What came of it; None: it failed, or was cancelled.
        """
        ...


JobKinds = Mapping[str, JobKind]
Interrupt = Callable[[], None]


class JobContext:
    """What a running job sees of its row; safe for use by many threads."""

    def __init__(
        self, store: JobStore, row: JobRow, at_rest: Callable[[], None] = lambda: None
    ) -> None:
        self._store = store
        self._row = row
        self._at_rest = at_rest  # called once its work is done but for a time
        self._lineage: Lineage = json.loads(row.lineage)
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._stopped = threading.Event()
        self._interrupts: list[Interrupt] = []
        self._furthest: dict[str, int] = {}
        self._headway: Headway | None = None
        self._began = time.monotonic()
        self._rested = 0.0

    @property
    def worked_seconds(self) -> float:
        """How long the job was worked on, in all attempts that are known of."""
        here = time.monotonic() - self._began - self._rested
        return self._row.worked_ms / 1000 + max(0.0, here)

    def rest(self, seconds: float) -> None:
        """Say that so long nothing was worked on."""
        self._rested += seconds

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Wait, in a block, for a time that work on rows does not decide.

        What waits behind the job is begun meanwhile.
        """
        self._at_rest()
        began = time.monotonic()
        try:
            yield
        finally:
            self.rest(time.monotonic() - began)

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self._row.id

    @property
    def attempt(self) -> int:
        """Which attempt at the job this is; it is higher than those taken over from."""
        return self._row.attempts

    @property
    def lease(self) -> Lease:
        """The claim under which the job is worked on here."""
        return self._row.lease

    @property
    def actor(self) -> str:
        """Who asked for the job."""
        return self._row.actor

    @property
    def population(self) -> str | None:
        """Whose custodians may see the job, or None."""
        return self._row.population

    @property
    def inputs(self) -> list[Document]:
        """What the job reads, as its lineage has it."""
        inputs: list[Document] = self._lineage["inputs"]
        return inputs

    @property
    def position(self) -> object:
        """Where an earlier attempt stopped, as it saved it; None at first."""
        return None if self._row.position is None else json.loads(self._row.position)

    def save_position_with(self, connection: Connection, position: object) -> None:
        """Write down where a later attempt goes on, with what was done up to there.

        Raises:
            JobStoppedError: The job is another worker's now: roll back.
        """
        said = json.dumps(position)
        self._store.save_with(connection, self.lease, position=said)

    def require_lease_with(self, connection: Connection) -> None:
        """Let no other worker take the job until a transaction's end.

        Raises:
            JobStoppedError: It is another's now, or has to stop: roll back.
        """
        self.raise_if_stopped()
        self._store.require_with(connection, self.lease)

    def require_claim_with(self, connection: Connection) -> None:
        """As ``require_lease_with``, of a job that may have to stop.

        Raises:
            LeaseLostError: It is another's now: roll back.
        """
        self._store.require_with(connection, self.lease)

    def record_inputs(self, inputs: list[Document]) -> None:
        """Write down what is read, for the job's lineage.

        Raises:
            JobStoppedError: The job is another worker's now.
        """
        self._lineage["inputs"] = inputs
        self._store.save(self.lease, lineage=json.dumps(self._lineage))

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """Say how far a stage is; within an attempt no stage goes back.

        Raises:
            JobStoppedError: In the job's own thread, where it has to stop.
        """
        self.tell(stage, done, total)
        if threading.get_ident() == self._thread:
            self.raise_if_stopped()

    def tell(self, stage: str, done: int, total: int | None) -> None:
        """Say how far a stage is, though the job has to stop."""
        with self._lock:
            furthest = max(done, self._furthest.get(stage, 0))
            self._furthest[stage] = furthest
            self._headway = Headway(stage, furthest, total)

    def raise_if_stopped(self) -> None:
        """End the job here where it was cancelled or its worker has to let go.

        Raises:
            JobStoppedError: So it is.
        """
        if self._stopped.is_set():
            raise JobStoppedError

    def require_lease(self) -> None:
        """Ask the store whether the job is still this worker's, and renew its lease.

        Raises:
            JobStoppedError: It is another's now.
        """
        self._store.beat(self.lease)

    def has_lease(self, connection: Connection) -> bool:
        """Whether the job is still this worker's, in the transaction that asks."""
        return self._store.is_held(connection, self.lease)

    @contextmanager
    def interruptible(self, interrupt: Interrupt) -> Iterator[None]:
        """Have ``interrupt`` called, again and again, once the job has to stop.

        For work that asks nothing for a long time, such as a statement in an engine.
        """
        with self._lock:
            self._interrupts.append(interrupt)
        try:
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)

    def require_wanted(self, connection: Connection) -> None:
        """Hold the job as one that nobody cancelled, until the transaction ends.

        Raises:
            JobStoppedError: It was cancelled, or is another's now: roll back.
        """
        self.raise_if_stopped()
        self._store.require_wanted(connection, self.lease)

    def conclude(
        self, connection: Connection, result: Document, outputs: list[Document]
    ) -> None:
        """Write the job's result in the transaction that does what the job is for.

        Raises:
            JobStoppedError: It was cancelled, or is another's now: roll back.
        """
        self.raise_if_stopped()
        self._lineage["outputs"] = outputs
        self._store.conclude(
            connection,
            self.lease,
            result=json.dumps(result),
            lineage=json.dumps(self._lineage),
        )

    def take_headway(self) -> Headway | None:
        """Return what was said last, once; for the beats."""
        with self._lock:
            headway, self._headway = self._headway, None
        return headway

    def stop(self) -> None:
        """Tell the job to stop, and interrupt what it is doing."""
        self._stopped.set()
        with self._lock:
            for interrupt in self._interrupts:
                interrupt()
