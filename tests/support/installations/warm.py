"""Commands in processes of their own that start fast: forked from one warm process.

Importing what ``curator`` needs takes three seconds of a processor; a test of twenty
commands would spend a minute on it. See ``tests.crash.instruments.zygote``, which
forks.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_HIDDEN = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_LOOK_SECONDS = 0.005


class Warm:
    """The warm process of this process: started when first needed, ended with it."""

    def __init__(self):
        self._zygote = None
        self._lock = threading.Lock()

    def fork(self, order):
        """Start what an order says; return its process id at once."""
        with self._lock:
            zygote = self._started()
            zygote.stdin.write(json.dumps(order) + "\n")
            zygote.stdin.flush()
            return int(zygote.stdout.readline())

    def _started(self):
        if self._zygote is None:
            atexit.register(self._close)
            self._zygote = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.instruments.zygote"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**_plain_environment(), **_HIDDEN},
                cwd=Path(__file__).parents[3],
                text=True,
            )
        return self._zygote

    def _close(self):
        self._zygote.stdin.close()
        self._zygote.wait(10)
        self._zygote.stdout.close()


WARM = Warm()


def _plain_environment():
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CURATOR_")
    }


def run_module(module, *arguments):
    """Run ``main`` of a module of the tests, as ``python -m``; return how it ended."""
    return run_curator(arguments, dict(os.environ), module=module)


def run_curator(arguments, environment, seconds=120, **more):
    """Run a command in this folder, with no variable but these; return how it ended.

    Raises:
        TimeoutExpired: It took longer.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ended, out, err = folder / "ended", folder / "out", folder / "err"
        order = {
            "arguments": arguments,
            "environment": environment,
            "folder": str(Path.cwd()),
            "out": str(out),
            "log": str(err),
            "ended": str(ended),
            **more,
        }
        pid = WARM.fork(order)
        deadline = time.monotonic() + seconds
        while not ended.exists():
            if time.monotonic() > deadline:
                os.killpg(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(arguments, seconds)
            time.sleep(_LOOK_SECONDS)
        code = int(ended.read_text())
        said = out.read_text(), err.read_text()
        return subprocess.CompletedProcess(arguments, code, *said)


@dataclass(frozen=True)
class Forked:
    """A process that no one here can wait for: it is the warm one's child."""

    pid: int
    returncode: None = None  # nobody knows

    def poll(self):
        """Return None while it runs."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None


@contextlib.contextmanager
def forked_curator(arguments, environment, log, seconds=60):
    """Run a command until the end of a block, where it gets SIGTERM."""
    order = {
        "arguments": arguments,
        "environment": environment,
        "folder": str(Path.cwd()),
        "log": str(log),
    }
    process = Forked(WARM.fork(order))
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        while process.poll() is None:
            if time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(_LOOK_SECONDS)
