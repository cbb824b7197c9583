"""A child process that is asked by a line of JSON and replies by one."""

import contextlib
import json
import select
import subprocess
from typing import IO, Any

from engines.processes.child_processes import (
    NEUTRAL_FOLDER,
    bare_environment,
    child_command,
    pipes_of,
)

_PIECE_BYTES = 2**16


class JsonChild:
    """One process of ours that reads what strangers wrote; for one thread at a time.

    It gets no setting of the server's, and nothing that it says on its way to die is
    kept: that may quote what it read.
    """

    def __init__(self, module: str) -> None:
        """Start the child.

        Args:
            module: The full name of the module that it runs.

        Raises:
            OSError: No process can be started.
        """
        self._process = subprocess.Popen(  # noqa: S603 - ours
            child_command(module),
            cwd=NEUTRAL_FOLDER,
            env=bare_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )

    def has_ended(self) -> bool:
        """Whether something killed it."""
        return self._process.poll() is not None

    def ask(self, asked: object, seconds: float) -> dict[str, Any] | None:
        """Return the child's reply, or None where it died or took too long.

        Whatever else is raised, it is killed: what it was asked would else be replied
        to whoever asks next.
        """
        try:
            return self._replied(json.dumps(asked).encode(), seconds)
        except BaseException:
            self.kill()
            raise

    def _replied(self, asked: bytes, seconds: float) -> dict[str, Any] | None:
        stdin, _ = pipes_of(self._process)
        try:
            stdin.write(asked + b"\n")
        except (OSError, ValueError):  # it died, or was killed by ``kill``
            return None
        line = self.line(seconds)
        reply: dict[str, Any] | None = json.loads(line) if line else None
        return reply

    def line(self, seconds: float) -> bytes:
        """Return the child's next line, empty where it died or took too long."""
        _, stdout = pipes_of(self._process)
        line = b""
        while not line.endswith(b"\n"):  # a child writes a line at once
            piece = _piece(stdout, seconds)
            if not piece:
                return b""
            line += piece
        return line

    def kill(self) -> None:
        """End the child and reap it."""
        self._process.kill()
        for pipe in pipes_of(self._process):
            with contextlib.suppress(OSError):
                pipe.close()
        self._process.wait()


def _piece(pipe: IO[bytes], seconds: float) -> bytes:
    """Return what a pipe has next; nothing where it has nothing in time."""
    if pipe.closed:
        return b""
    poll = select.poll()  # takes no file of its own, and knows high descriptors
    poll.register(pipe, select.POLLIN)
    return pipe.read(_PIECE_BYTES) if poll.poll(seconds * 1000) else b""
