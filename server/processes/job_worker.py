"""The worker's process: runs jobs until told to stop; and the server's own worker.

A server's child hears of its parent's end by its standard input, which the kernel
closes however the parent dies.
"""

import logging
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from engines.processes.child_processes import child_command, child_environment
from engines.processes.processors import (
    Processors,
    keep_process_to,
    starting_on,
    usable_processors,
)
from privacy.errors import CuratorError
from server.use_cases.jobs.queues import JobQueues

NICENESS = 15  # less urgent than answers, which executors work for at 10
POLL_SECONDS = 0.5
LAST_SECONDS = 10.0  # for letting go of a job, before the process ends anyhow
RESTART_SECONDS = 1.0
_CUT_SHORT = 70
_log = logging.getLogger("curator.worker")

Begin = Callable[[], None]
"""Begins on the jobs that wait; returns at once."""


def work_until(stop: threading.Event, begin: Begin) -> None:
    """Begin on the jobs that wait, now and then, until ``stop`` is set."""
    while not stop.is_set():
        try:
            begin()
        except (SQLAlchemyError, CuratorError, OSError) as error:
            _log.error("the worker waits", extra={"error": type(error).__name__})
        stop.wait(POLL_SECONDS)


def work_as_process(
    stop: threading.Event, queues: JobQueues, *, is_child: bool = False
) -> None:
    """Run jobs until SIGTERM or SIGINT, or, as a child, until the parent's end.

    Jobs run beside the main thread, which alone hears signals, even while an engine
    works. The process gives way to others that want the processor, and leaves those of
    the servers to them.
    """

    def on_signal(_: int, __: FrameType | None) -> None:
        stop.set()

    os.nice(NICENESS)
    if not is_child:  # else it was started there
        keep_process_to(Processors.divided(usable_processors()).executors)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    if is_child:
        threading.Thread(target=_hear_end, args=(stop,), daemon=True).start()
    threading.Thread(target=_end_anyhow, args=(stop,), daemon=True).start()
    working = threading.Thread(target=work_until, args=(stop, queues.begin))
    working.start()
    while working.is_alive():
        working.join(POLL_SECONDS)
    queues.join()


def _hear_end(stop: threading.Event) -> None:
    """Set ``stop`` once nobody can write to standard input any more."""
    while os.read(0, 1):
        pass
    stop.set()


def _end_anyhow(stop: threading.Event) -> None:
    """End a process that does not come to its end: its lease will run out."""
    stop.wait()
    threading.Event().wait(LAST_SECONDS)
    os._exit(_CUT_SHORT)


class ChildWorker:
    """A worker that lives as long as this process, started again if it dies.

    Args:
        processors: Where it works; this process's own where left out.
    """

    def __init__(self, processors: frozenset[int] = frozenset()) -> None:
        self._processors = processors
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._supervise, daemon=True)

    def __enter__(self) -> Self:
        """Start it."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it: a job that is running goes back into the queue."""
        with self._lock:
            self._stopping.set()
            process = self._process
        if process is not None:
            _end(process)
        self._thread.join()

    def _supervise(self) -> None:
        while (process := self._start()) is not None:
            process.wait()
            if not self._stopping.is_set():
                _log.warning("the worker ended", extra={"count": process.returncode})
                self._stopping.wait(RESTART_SECONDS)

    def _start(self) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._stopping.is_set():
                return None
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()
            with starting_on(self._processors):
                self._process = subprocess.Popen(  # noqa: S603 - ours
                    child_command("server.main", "worker", "--child"),
                    env=child_environment(),  # settings may name relative paths
                    stdin=subprocess.PIPE,
                )
            return self._process


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        process.stdin.close()  # it hears that
    try:
        process.wait(LAST_SECONDS + 1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
