"""The engine of a server: plans run in child processes, each one plan at a time."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import Final

from engines.contract import (
    Execution,
    Filled,
    Interruptible,
    SealedCounts,
    SealedVector,
)
from engines.duckdb.engine import DEADLINE_SECONDS, DuckDbEngine
from engines.duckdb.executor_frames import (
    FrameError,
    read_vectors,
    vector_sizes,
    write_plan,
)
from engines.duckdb.executor_process import ExecutorFailedError, ExecutorProcess
from engines.duckdb.snapshots import VERSION, SnapshotLimits, memory_per_executor
from engines.incidents import CRASHED, TIMED_OUT, Incidents
from engines.processes.processors import usable_processors
from privacy.errors import ExecutionError, StoppingError
from privacy.sealed import Exact
from privacy.sequences import SequenceCounts
from query_lang.plans.rendered import RenderedPlan
from query_lang.specs.cubes import CubeStatement
from query_lang.specs.sequences import SequenceStatement

GRACE_SECONDS: Final = 5.0
"""An executor interrupts itself at the deadline; so much later it is killed."""
START_SECONDS: Final = 60.0
"""How long an executor may take to start; measured: 0.5 s, 3 s on a busy machine."""

MOST_THREADS: Final = 2
"""Of one executor: each thread holds vectors of its own, which a plan's cost counts."""

_Start = Callable[[], ExecutorProcess]


@dataclass(frozen=True, slots=True)
class Shares:
    """Into how many public shares the engine's memory and processors are cut.

    Attributes:
        executors: Of each server process.
        workers: Server processes on this machine.
        processors: That row work has for itself; none: it shares all of them.
    """

    executors: int = 2
    workers: int = 1
    processors: frozenset[int] = frozenset()

    def limits(self) -> SnapshotLimits:
        """Return one executor's share."""
        cores = len(self.processors or usable_processors())
        return SnapshotLimits(
            memory_limit=f"{memory_per_executor(self.executors) >> 20}MiB",
            threads=min(MOST_THREADS, max(1, cores // (self.executors * self.workers))),
        )


class ExecutorEngine:
    """Executes plans in executors; counts cubes and sequences here, for jobs.

    No count waits for another. No executor runs before the first plan, or ``start``:
    whoever forks does it before. Safe for many threads.
    """

    def __init__(
        self,
        folder: Path,
        *,
        shares: Shares = Shares(),
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        limits, processors = shares.limits(), shares.processors
        self._here = DuckDbEngine(folder)
        self._idle = IdleExecutors(
            lambda: ExecutorProcess(folder, limits, processors), shares.executors
        )
        self._deadline_seconds = float(deadline_seconds)
        self._incidents = Incidents()

    @property
    def version(self) -> str:
        """Its name and version: others may read a statement otherwise."""
        return VERSION

    @property
    def incidents(self) -> int:
        """Executions that failed since the start; for the operator alone."""
        return self._incidents.failed + self._here.incidents

    @property
    def limit_incidents(self) -> int:
        """Those of them that met the memory limit or the deadline."""
        return self._incidents.at_limit + self._here.limit_incidents

    def start(self, snapshots: Sequence[str] = ()) -> None:
        """Start every executor, and open snapshots in each.

        Raises:
            ExecutionError: One does not start, or cannot open a snapshot.
        """
        opening = [json.dumps({"open": snapshot}).encode() for snapshot in snapshots]
        try:
            self._idle.start_all()
        except OSError:
            raise ExecutionError from None
        self._ask_every_idle([b"{}", *opening])

    def check(self) -> None:
        """Ask whether the executors that are idle now are well.

        Raises:
            ExecutionError: One is not.
        """
        self.start()

    def execution(self, snapshot: str, plan: RenderedPlan) -> Execution:
        """Write a plan down for an executor: as of ``Engine``."""
        with self._failing():
            sizes = vector_sizes(plan)
            request = write_plan(snapshot, plan, self._deadline_seconds)
        return _Execution(self, request, sizes)

    def execute(self, snapshot: str, plan: RenderedPlan) -> tuple[SealedVector, ...]:
        """Run a plan at once.

        Raises:
            ExecutionError: Execution failed. It has no cause and no context, since an
                engine's message may quote a value.
            StoppingError: The engine was closed before it began; nothing failed.
        """
        return self.execution(snapshot, plan).run().sealed()

    def reply_to(self, request: bytes) -> bytes:
        """Return an executor's reply to a plan that was written down.

        Raises:
            ExecutionError: As ``execute``.
            StoppingError: As ``execute``.
        """
        deadline = self._deadline_seconds
        with self._failing(), self._idle.lent(deadline) as executor:
            return executor.ask(request, deadline + GRACE_SECONDS)

    def sealed(self, reply: bytes, sizes: Sequence[int]) -> tuple[SealedVector, ...]:
        """Return the vectors of a reply, each of as many values as ``sizes`` says.

        Raises:
            ExecutionError: It holds more or fewer.
        """
        with self._failing():
            return tuple(Exact(vector) for vector in read_vectors(reply, sizes))

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Count what failed; of its cause nothing leaves."""
        try:
            yield
        except ExecutorFailedError as failed:
            kind = failed.kind
        except FrameError:
            kind = CRASHED
        else:
            return
        self._incidents.count(kind)
        raise ExecutionError

    def count_cube(
        self, snapshot: str, cube: CubeStatement, interruptible: Interruptible
    ) -> SealedCounts:
        """Return the counts of a cube's cells, sealed; counted in this process.

        Raises:
            ExecutionError: As ``execute``; or ``interruptible`` ended it.
            StoppingError: As ``execute``.
        """
        return self._here.count_cube(snapshot, cube, interruptible)

    def count_sequences(
        self,
        snapshot: str,
        sequences: SequenceStatement,
        interruptible: Interruptible,
    ) -> Exact[SequenceCounts]:
        """Return the units' distinct sequences and how many have each, sealed.

        Raises:
            ExecutionError: As ``execute``; or ``interruptible`` ended it.
            StoppingError: As ``execute``.
        """
        return self._here.count_sequences(snapshot, sequences, interruptible)

    def can_open(self, snapshot: str) -> bool:
        """Whether a snapshot can be read at all; it is closed again."""
        return self._here.can_open(snapshot)

    def close_removed(self) -> None:
        """Let go of snapshots whose file was removed, once nobody reads them.

        An executor that is busy does so after its plan; one that died holds nothing,
        and those behind it are asked the next time.
        """
        self._here.close_removed()
        with suppress(ExecutionError):
            self._ask_every_idle([b'{"close_removed": true}'])

    def close(self) -> None:
        """Open nothing more; end the executors, the busy ones after their plan."""
        self._here.close()
        self._idle.close()

    def _ask_every_idle(self, requests: list[bytes]) -> None:
        """Ask the same of each executor that runs and is idle now."""
        try:
            for executor in self._idle.each():
                for request in requests:
                    executor.ask(request, START_SECONDS)
        except ExecutorFailedError:
            raise ExecutionError from None


@dataclass(frozen=True, slots=True)
class _Filled:
    """A reply that nobody has read yet."""

    engine: ExecutorEngine
    reply: bytes
    sizes: Sequence[int]

    def sealed(self) -> tuple[SealedVector, ...]:
        return self.engine.sealed(self.reply, self.sizes)


@dataclass(frozen=True, slots=True)
class _Execution:
    """A plan as an executor reads it."""

    engine: ExecutorEngine
    request: bytes
    sizes: Sequence[int]

    def run(self) -> Filled:
        return _Filled(self.engine, self.engine.reply_to(self.request), self.sizes)


class IdleExecutors:
    """The executors that nobody uses: each started when it is needed first."""

    def __init__(self, start: _Start, count: int) -> None:
        self._start = start
        self._changed = Condition()
        self._idle: list[ExecutorProcess | None] = [None] * count  # longest idle first
        self._closing = False

    @contextmanager
    def lent(self, timeout_seconds: float) -> Iterator[ExecutorProcess]:
        """Lend an executor; one that is lost is replaced at once.

        Raises:
            ExecutorFailedError: None became idle, or none can be started.
            StoppingError: The engine is closed.
        """
        with self._held(self._take(timeout_seconds)) as executor:
            yield executor

    def each(self) -> Iterator[ExecutorProcess]:
        """Lend each executor that runs and is idle now, one after the other."""
        for _ in range(len(self._idle)):
            with self._changed:
                if not self._idle:
                    return
                taken = self._idle.pop(0)
                if taken is None:
                    self._idle.append(taken)
                    continue
            with self._held(taken) as executor:
                yield executor

    def start_all(self) -> None:
        """Start every executor that is not in use, without waiting for any.

        Raises:
            OSError: No process can be had.
        """
        with self._changed:
            self._idle = [found or self._start() for found in self._idle]

    def close(self) -> None:
        """End what is idle, and later each of the others when it is given back."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            while self._idle:
                executor = self._idle.pop()
                if executor is not None:
                    executor.kill()

    def _take(self, timeout_seconds: float) -> ExecutorProcess | None:
        with self._changed:
            found = self._changed.wait_for(
                lambda: self._closing or self._idle, timeout_seconds
            )
            if self._closing:
                raise StoppingError
            if not found:
                raise ExecutorFailedError(TIMED_OUT, is_lost=False)
            return self._idle.pop(0)

    @contextmanager
    def _held(self, taken: ExecutorProcess | None) -> Iterator[ExecutorProcess]:
        executor = self._running(taken)
        try:
            yield executor
        except ExecutorFailedError as failed:
            if failed.is_lost:
                executor.kill()
            raise
        except BaseException:
            executor.kill()  # its reply would be taken for the next one's
            raise
        finally:
            self._give_back(executor)

    def _running(self, taken: ExecutorProcess | None) -> ExecutorProcess:
        if taken is not None and taken.is_alive():
            return taken
        if taken is not None:
            taken.kill()
        try:
            return self._start()
        except OSError:
            self._give_back(None)
            raise ExecutorFailedError(CRASHED, is_lost=True) from None

    def _give_back(self, executor: ExecutorProcess | None) -> None:
        if executor is not None and not executor.is_alive():
            executor = self._restarted()
        with self._changed:
            if not self._closing:
                self._idle.append(executor)
                self._changed.notify()
                return
        if executor is not None:
            executor.kill()

    def _restarted(self) -> ExecutorProcess | None:
        """Start another, so that the next plan need not wait for it."""
        try:
            return None if self._closing else self._start()
        except OSError:
            return None
