"""Running a job: kept alive by beats, stopped when told."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum

from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError

from privacy.errors import CuratorError, LedgerUnavailableError
from server.use_cases.jobs.kinds import JobContext, JobKind, JobKinds, JobParameters
from server.use_cases.jobs.store import MAX_ATTEMPTS, Ending, JobRow, JobStore
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import (
    CommandRefusedError,
    JobStoppedError,
    LeaseLostError,
)
from server.use_cases.services.slots import wait_for_slot

BEAT_SECONDS = 2.0
POSTPONED_MS = 5_000
_WAKE_SECONDS = 0.1
_PASSING = (LedgerUnavailableError, SQLAlchemyError, OSError)
_EXHAUSTED = (
    f"the work was cut off {MAX_ATTEMPTS} times: look at the worker's log and at the "
    "machine's memory, then submit it again"
)
_SILENT = (
    "the work could not be executed. Why is not said, since an engine's words may hold "
    "values: look at this machine's memory and disk, and at the size of the work"
)
_log = logging.getLogger("curator.jobs")


@dataclass(frozen=True, slots=True)
class RunnerParts:
    """What a runner is made of.

    Attributes:
        store: Where the jobs are.
        kinds: What can be run.
        catch_up: Writes the ledger's anchor forward, where a killed attempt did not.
        beat_seconds: How often a lease is renewed and headway written.
        slot_seconds: Of the slots at whose ends jobs end; 0: they end at once.
    """

    store: JobStore
    kinds: JobKinds
    catch_up: Callable[[], None]
    beat_seconds: float = BEAT_SECONDS
    slot_seconds: int = 0


_Step = Callable[[JobKind, JobContext, JobParameters], Document | None]


class _Pause(Enum):
    """What becomes of a job that an attempt did not bring to its end."""

    TURN = "waits for its turn"
    GIVEN_UP = "is another worker's to take"
    LATER = "waits until it may be tried again"


def _whole(
    kind: JobKind, context: JobContext, parameters: JobParameters
) -> Document | None:
    return kind.run(context, parameters)


def _beginning(
    kind: JobKind, context: JobContext, parameters: JobParameters
) -> Document | None:
    kind.begin(context, parameters)
    return None


def _cancelled(
    kind: JobKind, context: JobContext, parameters: JobParameters
) -> Document | None:
    del kind, context, parameters
    raise JobStoppedError


def _exhausted(
    kind: JobKind, context: JobContext, parameters: JobParameters
) -> Document | None:
    del kind, context, parameters
    raise CommandRefusedError(_EXHAUSTED)


class JobRunner:
    """Takes jobs and brings each to its end, or lets go of it.

    Safe for many threads.
    """

    def __init__(self, parts: RunnerParts, stop: threading.Event) -> None:
        self._parts = parts
        self._store = parts.store
        self._stop = stop  # set: let go of the running job, and take no other

    def waiting(self) -> list[str]:
        """Return the queues that hold a job that nobody works on."""
        return [] if self._stop.is_set() else self._store.waiting()

    def begin_due(self) -> None:
        """Close and begin the jobs whose end or beginning may not wait for their turn.

        Those are closed that nobody works on, and that were cancelled meanwhile, or
        that an attempt had done but for saying so.
        """
        for job_id in self._store.at_end():
            row = None if self._stop.is_set() else self._store.claim(job_id)
            if row is not None:
                self._contained(row, self._close)
        for kind in self._parts.kinds.values():
            for job_id in kind.unbegun():
                row = None if self._stop.is_set() else self._store.claim(job_id)
                if row is not None:
                    self._contained(row, self._begin)

    def run_one(
        self,
        only: str | None = None,
        *,
        queue: str | None = None,
        at_slot: bool = True,
        at_rest: Callable[[], None] = lambda: None,
    ) -> bool:
        """Take the oldest free job and work on it; say whether there was one.

        Args:
            only: That one, or none.
            queue: Of that one; None: of all.
            at_slot: Whether it ends at the end of a slot, where its kind asks for it:
                whatever follows it then does not tell how long it worked.
            at_rest: Called once it only waits for a time: the next may begin.
        """
        row = None if self._stop.is_set() else self._store.claim(only, queue=queue)
        if row is None:
            return False
        facts = {"job": row.id, "kind": row.kind, "count": row.attempts}
        _log.info("a job is begun", extra=facts)
        context = JobContext(self._store, row, at_rest)  # its work begins here
        self._contained(row, lambda row: self._bring_on(row, context, at_slot=at_slot))
        return True

    def _contained(self, row: JobRow, work: Callable[[JobRow], None]) -> None:
        try:
            work(row)
        except LeaseLostError:
            facts = {"job": row.id, "kind": row.kind, "count": row.attempts}
            _log.warning("a job was taken over by another worker", extra=facts)

    def _begin(self, row: JobRow) -> None:
        """Begin a job, and leave the rest until its turn."""
        if row.attempts > MAX_ATTEMPTS:
            self._end(row, Ending("failed", error=_EXHAUSTED))
        else:
            self._attempt(row, JobContext(self._store, row), _beginning)

    def _put_back(self, row: JobRow) -> None:
        """Let a job wait for its turn; one that was cancelled meanwhile ends here."""
        if self._store.requeue(row.lease):
            _log_end(row, "cancelled")
            self._settle(row)

    def _close(self, row: JobRow) -> None:
        """End a job that needs no more work.

        No files are looked at, since all queues wait meanwhile: they go with the next
        that are cleaned.
        """
        if row.result is not None:  # an attempt did all but say so
            self._parts.catch_up()
            self._end(row, Ending("done", result=row.result))
        else:
            self._store.finish(row.lease, Ending("cancelled"))
            _log_end(row, "cancelled")
            self._settle(row)

    def _settle(self, row: JobRow) -> None:
        """End what an ended job had begun; where that fails, a later look does it."""
        kind = self._parts.kinds.get(row.kind)
        if kind is not None:
            with suppress(LedgerUnavailableError):
                kind.settle()

    def _bring_on(self, row: JobRow, context: JobContext, *, at_slot: bool) -> None:
        if row.attempts > 1:
            self._clean(row)
        if row.result is not None:
            self._close(row)
        elif row.cancel_requested:
            self._attempt(row, context, _cancelled, at_slot=at_slot)
        elif row.attempts > MAX_ATTEMPTS:
            self._attempt(row, context, _exhausted, at_slot=at_slot)
        else:
            self._attempt(row, context, at_slot=at_slot)

    def _clean(self, row: JobRow) -> None:
        if row.kind in self._parts.kinds:
            self._parts.kinds[row.kind].clean()

    def _attempt(
        self,
        row: JobRow,
        context: JobContext,
        work: _Step = _whole,
        *,
        at_slot: bool = False,
    ) -> None:
        with self._kept(context) as keeper:
            made = self._run(row, context, work)
            outcome = self._outcome(row, made, given_up=keeper.given_up)
            if work is not _beginning:
                self._discard(row, context, outcome)
            at_slot = at_slot and self._holds_queue(row, made, outcome)
            if at_slot and not keeper.has_let_go:
                self._wait_for_slot(context, lambda: keeper.has_let_go)
        if isinstance(outcome, Ending):
            self._end(row, outcome)
        elif outcome is _Pause.TURN:
            self._put_back(row)
        elif outcome is _Pause.GIVEN_UP:
            _log.info("a job is given up, for another worker", extra={"job": row.id})
            self._store.give_up(row.lease)
        else:
            facts = {"job": row.id, "error": type(made).__name__}
            _log.warning("a job waits", extra=facts)
            self._store.postpone(row.lease, POSTPONED_MS)

    def _discard(
        self, row: JobRow, context: JobContext, outcome: Ending | _Pause
    ) -> None:
        """Delete what a job made that ends with nothing, while it is held."""
        kind = self._parts.kinds.get(row.kind)
        is_over = isinstance(outcome, Ending) and outcome.state != "done"
        if kind is None or not is_over:
            return
        try:
            kind.discard(context, is_over=True)
        except (*_PASSING, CuratorError) as error:
            if isinstance(error, LeaseLostError):
                raise
            facts = {"job": row.id, "error": type(error).__name__}
            _log.warning("what a job made is left to the next one", extra=facts)

    def _holds_queue(
        self,
        row: JobRow,
        made: Document | Exception | None,
        outcome: Ending | _Pause,
    ) -> bool:
        """Whether an attempt is a job's last, and ends when its work on rows does."""
        kind = self._parts.kinds.get(row.kind)
        result = None if isinstance(made, Exception) else made
        is_last = isinstance(outcome, Ending)
        return is_last and kind is not None and kind.holds_queue(result)

    def _wait_for_slot(self, context: JobContext, is_over: Callable[[], bool]) -> None:
        """Wait until the end of a slot, or until the job or its worker is let go of."""
        began = time.monotonic()

        def waiting(done: int, total: int) -> None:
            context.tell("slot", done, total)
            if is_over():
                raise JobStoppedError

        with suppress(JobStoppedError):
            wait_for_slot(context.worked_seconds, self._parts.slot_seconds, waiting)
        context.rest(time.monotonic() - began)

    def _run(
        self, row: JobRow, context: JobContext, work: _Step
    ) -> Document | Exception | None:
        try:
            kind = self._parts.kinds[row.kind]
            parameters = kind.parameters.model_validate_json(row.parameters)
            if work is _whole:
                kind.discard(context, is_over=False)
            return work(kind, context, parameters)
        except Exception as error:  # noqa: BLE001 - a job's bug must not end its worker
            return error

    @contextmanager
    def _kept(self, context: JobContext) -> Iterator["_Keeper"]:
        keeper = _Keeper(context, self._parts, self._stop)
        keeper.start()
        try:
            yield keeper
        finally:
            keeper.end()

    def _outcome(
        self, row: JobRow, made: Document | Exception | None, *, given_up: bool
    ) -> Ending | _Pause:
        """Return what becomes of a job; without a result, by what is in the row now."""
        if not isinstance(made, Exception):
            done = Ending("done", result=json.dumps(made))
            return _Pause.TURN if made is None else done
        cancelled = self._store.beat(row.lease)
        now = self._store.get(row.id)
        if now is not None and now.result is not None:
            self._parts.catch_up()
            return Ending("done", result=now.result)
        if cancelled:
            return Ending("cancelled")
        return _failed(row, made, given_up=given_up)

    def _end(self, row: JobRow, ending: Ending) -> None:
        self._store.finish(row.lease, ending)
        _log_end(row, ending.state)
        if ending.state != "done":
            self._clean(row)


def _failed(row: JobRow, failure: Exception, *, given_up: bool) -> Ending | _Pause:
    """Return what becomes of a job that was not cancelled and has no result."""
    if given_up and not isinstance(failure, CommandRefusedError):
        return _Pause.GIVEN_UP
    if isinstance(failure, _PASSING) and row.attempts < MAX_ATTEMPTS:
        return _Pause.LATER
    return Ending("failed", error=_sentence(failure))


def _log_end(row: JobRow, state: str) -> None:
    _log.info("a job ends", extra={"job": row.id, "outcome": state})


def _sentence(failure: Exception) -> str:
    """Return what custodians are told; of a bug no more than its type."""
    if isinstance(failure, CuratorError):
        return str(failure) or _SILENT
    if isinstance(failure, ValidationError | KeyError):
        return "this worker does not know such a job: update it, then submit again"
    _log.error("a job met a bug", extra={"error": type(failure).__name__})
    return f"the work met a fault ({type(failure).__name__}) and was not done"


class _Keeper:
    """Renews a job's lease beside its work, and tells it when to stop."""

    def __init__(
        self, context: JobContext, parts: RunnerParts, stop: threading.Event
    ) -> None:
        self.given_up = False
        self.has_let_go = False
        self._context = context
        self._parts = parts
        self._stop = stop
        self._stopping = False
        self._last_beat = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._beat()  # so that a short stage is seen too

    def _keep(self) -> None:
        due = self._last_beat + self._parts.beat_seconds
        while not self._ended.wait(_WAKE_SECONDS):
            if self._stop.is_set():
                self.given_up = self._stopping = self.has_let_go = True
            if time.monotonic() >= due:
                self._beat()
                due = time.monotonic() + self._parts.beat_seconds
            if self._stopping:
                self._context.stop()  # again and again: one may miss a statement

    def _beat(self) -> None:
        try:
            cancel = self._parts.store.beat(
                self._context.lease,
                self._context.take_headway(),
                round(self._context.worked_seconds * 1000),
            )
        except LeaseLostError:
            self._stopping = self.has_let_go = True
        except _PASSING as error:
            _log.warning("a beat failed", extra={"error": type(error).__name__})
            lease_seconds = self._parts.store.lease_ms / 1000
            if time.monotonic() - self._last_beat > lease_seconds:
                self._stopping = self.has_let_go = True  # it may be another's by now
        else:
            self._last_beat = time.monotonic()
            self._stopping |= cancel
