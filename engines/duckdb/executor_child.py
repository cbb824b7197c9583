"""An executor: a process of its own that runs rendered plans, and nothing else.

It gives way to every process of ordinary priority, so that row work delays no route of
the server; its memory is its own; it ends with the server, whose end closes its input.
"""

import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO, Final

from engines.duckdb.deadlines import Deadlines
from engines.duckdb.executor_frames import (
    FAILED,
    HEADER,
    framed,
    read_json,
    read_plan,
    write_vectors,
)
from engines.duckdb.filling import filled_vectors
from engines.duckdb.snapshots import SnapshotLimits, Snapshots

NICENESS: Final = 10
"""Less urgent than the server's 0; jobs are less urgent still."""
_SOONER_KILLED: Final = "500"
"""Added to this process's badness, so that the kernel, short of memory, ends it before
the server (proc(5), oom_score_adj)."""


def main() -> None:
    """Answer requests until standard input ends."""
    replies = _take_output()
    _give_way()
    options = json.loads(sys.argv[1])
    limits = SnapshotLimits(
        options["memory_limit"], options["threads"], options["max_open"]
    )
    executor = Executor(Snapshots(Path(options["folder"]), limits))
    requests: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read_forever, args=(sys.stdin.buffer, requests.put)).start()
    gc.freeze()
    while True:
        replies.write(framed(executor.reply(requests.get())))
        replies.flush()


class Executor:
    """Turns requests into replies, one at a time."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots
        self._deadlines = Deadlines()

    def reply(self, request: bytes) -> bytes:
        """Return what a request made; of an error its kind alone."""
        try:
            return self._done(read_json(request))
        except Exception as error:  # noqa: BLE001 - nothing of the cause may leave
            return FAILED + type(error).__name__.encode()

    def _done(self, request: dict[str, object]) -> bytes:
        if "close_removed" in request:
            self._snapshots.close_removed()
            return write_vectors([])
        if "open" in request:
            with self._snapshots.cursor(str(request["open"]), timeout_seconds=1):
                return write_vectors([])
        if "statements" not in request:  # is there anybody?
            return write_vectors([])
        vectors = filled_vectors(self._snapshots, self._deadlines, read_plan(request))
        self._snapshots.close_removed()
        return write_vectors(vectors)


def _take_output() -> BinaryIO:
    """Return standard output for replies alone: what is printed goes nowhere."""
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return os.fdopen(kept, "wb")


def _give_way() -> None:
    """Become less urgent, and deaf to the signals that tell a server to drain."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # another system than Linux
        Path("/proc/self/oom_score_adj").write_text(_SOONER_KILLED, "ascii")


def _read_forever(stream: BinaryIO, take: Callable[[bytes], None]) -> None:
    """Hand over each request; end the process, amid a query too, once there is none."""
    while len(header := stream.read(HEADER.size)) == HEADER.size:
        take(stream.read(*HEADER.unpack(header)))
    os._exit(0)


if __name__ == "__main__":
    main()
