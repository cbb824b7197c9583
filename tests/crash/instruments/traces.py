"""What a server asks of the kernel, in order, seen by strace from outside."""

import contextlib
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ATTACH_SECONDS = 20
_LINE = re.compile(r"^(\d+)\s+(.*)$")
_CALL = re.compile(r"^(\w+)\((.*)$", re.DOTALL)
_RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$", re.DOTALL)
_PATH = re.compile(r"<((?:[^<>]|\\x..)*)>")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_HEX = re.compile(r"\\x([0-9a-f]{2})")
_NUMBERS = re.compile(r", (\d+)(?:, (\d+))?\)?\s*$")


@dataclass(frozen=True)
class Event:
    """One system call. ``at`` orders starts and ends over all threads."""

    started_at: int
    ended_at: int
    name: str
    path: str  # of the descriptor, or the path that openat was given
    content: bytes  # that was written or sent
    offset: int  # of pwrite64; the length of ftruncate
    result: int


def require_strace():
    """Skip, saying so, where strace is missing or may not trace."""
    if shutil.which("strace") is None:
        pytest.skip("SKIPPED DURABILITY TEST: strace is not installed")
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            with attached(sleeper.pid, ["-e", "trace=none"]):
                pass
        except RuntimeError as error:
            pytest.skip(f"SKIPPED DURABILITY TEST: strace may not attach ({error})")
        finally:
            sleeper.kill()


@contextlib.contextmanager
def attached(pid, options, more=()):
    """Hold strace on processes with all their threads for the length of a block."""
    processes = [part for each in (pid, *more) for part in ("-p", str(each))]
    tracer = subprocess.Popen(
        ["strace", "-f", *processes, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = tracer.stderr.readline()
        if "attached" not in said:
            message = said.strip() or f"strace ended with {tracer.wait(10)}"
            raise RuntimeError(message)
        time.sleep(0.3)  # until every thread has stopped once
        yield
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=30)


def children_of(pid):
    """Return the processes that the threads of one have started, and that live."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for one in threads for child in one.read_text().split()]


@contextlib.contextmanager
def traced(pid, folder, calls, *, children=False):
    """Trace calls with all that they write; the list is filled when the block ends.

    ``children``: those of the process too, as those that read snapshots.
    """
    log = Path(folder) / "strace.log"
    events = []
    options = ["-y", "-xx", "-s", "70000", "-e", f"trace={calls}", "-o", str(log)]
    more = children_of(pid) if children else ()
    with attached(pid, [*options, "-e", "signal=none"], more):
        yield events
    events += read_events(log)


def failing(pid, calls, error="EIO", path=None):
    """Make calls fail, on one path if given, for the length of a block."""
    only = [] if path is None else ["-P", str(path)]
    return attached(
        pid,
        [
            *only,
            "-e",
            f"trace={calls}",
            "-e",
            f"inject={calls}:error={error}",
            "-e",
            "signal=none",
            "-o",
            "/dev/null",
        ],
    )


def read_events(log):
    """Return the calls of a log, by the order in which they ended."""
    begun, events = {}, []
    with log.open(encoding="ascii", errors="replace") as rows:
        for number, row in enumerate(rows):
            matched = _LINE.match(row.rstrip("\n"))
            if matched is None:
                continue
            thread, text = matched.groups()
            if text.endswith("<unfinished ...>"):
                begun[thread] = (number, text.removesuffix("<unfinished ...>"))
                continue
            resumed = _RESUMED.match(text)
            start = number
            if resumed is not None:
                if thread not in begun:
                    continue
                start, first = begun.pop(thread)
                text = first.rstrip() + resumed.group(2)
            event = _event(text, start, number)
            if event is not None:
                events.append(event)
    return events


def _event(text, start, end):
    call = _CALL.match(text)
    head, separator, result = text.rpartition(" = ")
    if call is None or not separator:
        return None
    name, strings = call.group(1), _STRING.findall(head)
    digits = re.match(r"-?\d+", result)
    if name == "openat":
        path = strings[0] if strings else ""
    else:
        found = _PATH.search(head.split('"')[0])
        path = found.group(1) if found else ""
    numbers = _NUMBERS.search(head)
    last = numbers.group(2) or numbers.group(1) if numbers else 0
    return Event(
        start,
        end,
        name,
        _decode(path).decode(errors="replace"),
        b"" if name == "openat" or not strings else _decode(strings[0]),
        int(last),
        int(digits.group(0)) if digits else 0,
    )


def _decode(text):
    if text.startswith("\\x") and len(text) % 4 == 0:
        with contextlib.suppress(ValueError):
            return bytes.fromhex(text.replace("\\x", ""))
    return _HEX.sub(lambda m: chr(int(m.group(1), 16)), text).encode("latin-1")
