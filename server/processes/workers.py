"""Several processes serve one socket: a parent that forks, replaces and drains them.

The parent has one thread and no connection of its own while it forks, so that a worker
inherits nothing but the socket. A worker whose parent died drains and ends.
"""

import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

DRAIN_SECONDS = 35.0  # five more than a worker gives its requests
_POLL_SECONDS = 0.5
_SETTLED_SECONDS = 2.0  # a worker that ends sooner is not started again at once
_PAUSE_SECONDS = 1.0
_STOPS = frozenset({signal.SIGTERM, signal.SIGINT})
_WATCHED = _STOPS | {signal.SIGCHLD}
_log = logging.getLogger("curator.workers")


@dataclass(frozen=True, slots=True)
class _Worker:
    worker_id: str
    place: int  # from 0; whoever replaces it takes its place
    started: float


@dataclass
class Supervisor:
    """Keeps ``count`` workers until it is told to stop.

    Args:
        count: How many.
        serve: What a worker does, given its worker id and its place; returns when
            drained.
        ended: Called in the parent with the id of a worker that died.
    """

    count: int
    serve: Callable[[str, int], None]
    ended: Callable[[str], None]
    _workers: dict[int, _Worker] = field(default_factory=dict)
    _pipe: tuple[int, int] = (-1, -1)

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT; return when every worker has drained."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        self._pipe = os.pipe()
        try:
            for place in range(self.count):
                self._start(place)
            while not self._is_told_to_stop():
                self._replace_dead()
            self._drain()
        finally:
            for end in self._pipe:
                os.close(end)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _is_told_to_stop(self) -> bool:
        received = signal.sigtimedwait(_WATCHED, _POLL_SECONDS)
        return received is not None and received.si_signo in _STOPS

    def _start(self, place: int) -> None:
        worker_id = secrets.token_hex(16)
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._become_worker(worker_id, place)
        self._workers[pid] = _Worker(worker_id, place, time.monotonic())

    def _become_worker(self, worker_id: str, place: int) -> None:
        code = 1
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
            os.close(self._pipe[1])
            threading.Thread(target=self._outlive_no_parent, daemon=True).start()
            self.serve(worker_id, place)
            code = 0
        except Exception as error:  # noqa: BLE001 - its words could quote anything
            _log.error(
                "a worker could not serve", extra={"error": type(error).__name__}
            )
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _outlive_no_parent(self) -> None:
        """Wait until the parent's end of the pipe closes, then drain."""
        os.read(self._pipe[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _replace_dead(self) -> None:
        for worker in self._reap():
            _log.warning("a worker ended and is replaced")
            self.ended(worker.worker_id)
            if time.monotonic() - worker.started < _SETTLED_SECONDS:
                time.sleep(_PAUSE_SECONDS)
            self._start(worker.place)

    def _reap(self) -> list[_Worker]:
        dead = [pid for pid in self._workers if os.waitpid(pid, os.WNOHANG)[0] == pid]
        return [self._workers.pop(pid) for pid in dead]

    def _drain(self) -> None:
        """Tell every worker to finish what is in flight; end who takes too long."""
        self._signal_all(signal.SIGTERM)
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._workers and time.monotonic() < deadline:
            signal.sigtimedwait({signal.SIGCHLD}, _POLL_SECONDS)
            self._reap()
        self._signal_all(signal.SIGKILL)
        for pid in list(self._workers):
            os.waitpid(pid, 0)
            del self._workers[pid]

    def _signal_all(self, number: signal.Signals) -> None:
        for pid in self._workers:  # unreaped, so that the id is still theirs
            os.kill(pid, number)
