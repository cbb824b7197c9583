"""One executor as the server sees it: a child process, a frame in, a frame out."""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import IO, Final

from engines.duckdb.executor_frames import FAILED, FILLED, HEADER, framed
from engines.duckdb.snapshots import SnapshotLimits
from engines.incidents import CRASHED, KILLED, TIMED_OUT
from engines.processes.child_processes import (
    NEUTRAL_FOLDER,
    bare_environment,
    child_command,
    pipes_of,
)
from engines.processes.processors import starting_on

_CHUNK_BYTES: Final = 1 << 20


class ExecutorFailedError(Exception):
    """A request failed; ``kind`` names what was raised, and quotes nothing.

    Attributes:
        kind: The name of an error's type, or how the process ended.
        is_lost: Whether the process has ended, or must.
    """

    def __init__(self, kind: str, *, is_lost: bool) -> None:
        super().__init__(kind)
        self.kind = kind
        self.is_lost = is_lost


class ExecutorProcess:
    """A child that runs one plan at a time; used by one thread at a time.

    It runs on ``processors`` alone; where there are none, on those of its parent.
    """

    def __init__(
        self,
        folder: Path,
        limits: SnapshotLimits,
        processors: frozenset[int] = frozenset(),
    ) -> None:
        options = {
            "folder": str(folder.absolute()),
            "memory_limit": limits.memory_limit,
            "threads": limits.threads,
            "max_open": limits.max_open,
        }
        with starting_on(processors):
            self._process = subprocess.Popen(  # noqa: S603 - a command of our own
                child_command("engines.duckdb.executor_child", json.dumps(options)),
                cwd=NEUTRAL_FOLDER,
                env=bare_environment(),  # it needs no password and no setting
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # a dying database may quote a value
                bufsize=0,
            )
        self._input, self._output = pipes_of(self._process)
        for pipe in (self._input, self._output):
            os.set_blocking(pipe.fileno(), False)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def ask(self, request: bytes, seconds: float) -> bytes:
        """Return the reply to a request, which starts with ``FILLED``.

        Raises:
            ExecutorFailedError: The request failed, the process ended, or it did not
                reply in so many seconds.
        """
        deadline = time.monotonic() + seconds
        try:
            self._send(memoryview(framed(request)), deadline)
            (length,) = HEADER.unpack(self._receive(HEADER.size, deadline))
            reply = self._receive(length, deadline)
        except TimeoutError:
            raise ExecutorFailedError(TIMED_OUT, is_lost=True) from None
        except (OSError, EOFError):
            raise ExecutorFailedError(self._end(), is_lost=True) from None
        except BaseException:  # its reply would else be read by whoever asks next
            self.kill()
            raise
        if reply[:1] == FAILED:
            raise ExecutorFailedError(_word(reply[1:]), is_lost=False)
        if reply[:1] != FILLED:
            raise ExecutorFailedError(CRASHED, is_lost=True)
        return reply

    def kill(self) -> None:
        """End the process and reap it."""
        self._process.kill()
        self._input.close()
        self._output.close()
        self._process.wait()

    def _end(self) -> str:
        """Name how the process ended."""
        self._process.kill()
        killed = self._process.wait() == -signal.SIGKILL
        return KILLED if killed else CRASHED

    def _send(self, left: memoryview, deadline: float) -> None:
        while left:
            _wait(self._input, select.POLLOUT, deadline)
            left = left[os.write(self._input.fileno(), left[:_CHUNK_BYTES]) :]

    def _receive(self, length: int, deadline: float) -> bytes:
        received = bytearray()
        while len(received) < length:
            _wait(self._output, select.POLLIN, deadline)
            wanted = min(length - len(received), _CHUNK_BYTES)
            chunk = os.read(self._output.fileno(), wanted)
            if not chunk:
                raise EOFError
            received += chunk
        return bytes(received)


def _wait(pipe: IO[bytes], event: int, deadline: float) -> None:
    """Wait until a pipe can be used, or its other end is closed."""
    poll = select.poll()
    poll.register(pipe, event)
    left = max(0.0, deadline - time.monotonic())
    if not poll.poll(left * 1000):
        raise TimeoutError


def _word(reply: bytes) -> str:
    """Return the name of an error's type; anything else is no name of one."""
    text = reply.decode("ascii", "replace")
    return text if text.isidentifier() else CRASHED
