"""How far a load has come, told to whoever watches (never to an analyst)."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Phase = Literal["check", "units", "read", "rank", "write", "slot"]
_POLL_SECONDS = 0.5
_COUNTERS = Path("/proc/self/io")


@dataclass(frozen=True, slots=True)
class ProgressStep:
    """One word of a load in progress.

    Attributes:
        phase: ``check`` the files' form, name the ``units``, ``read`` (parse and hash)
            all rows, ``rank`` rows within their units, ``write`` the snapshot; wait
            for the end of a ``slot``, at which others may see that it is done.
        table: The table at work; of a slot the dataset.
        done: How much of ``total``, in ``unit``.
        total: Never 0.
        unit: What is counted.
    """

    phase: Phase
    table: str
    done: int
    total: int
    unit: Literal["bytes", "rows", "seconds"]

    @property
    def percent(self) -> int:
        """The phase's part that is done, rounded down, 0 to 100."""
        return min(100, 100 * self.done // self.total)


Progress = Callable[[ProgressStep], None]


def silent(_step: ProgressStep) -> None:
    """Tell nobody."""


Interruptible = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Lends, for a block, a way to interrupt what runs in it to whoever may want to."""


def never_interrupted(_interrupt: Callable[[], None]) -> AbstractContextManager[None]:
    """Let a block run to its end."""
    return nullcontext()


@contextmanager
def watched(
    progress: Progress, start: ProgressStep, input_bytes: int
) -> Iterator[None]:
    """Report, now and then, how much of its input a statement has read.

    DuckDB's own estimate stands still where a file is joined, so the operating system
    is asked what this process has read; where it does not say (elsewhere than on
    Linux), only start and end are told. The share never goes back, and it is told to
    be whole only when the block ends without an error.

    Args:
        progress: Whom to tell.
        start: The phase's first word.
        input_bytes: The size of what is read; must not be read twice.
    """
    progress(start)
    ended = threading.Event()
    arguments = (progress, start, max(1, input_bytes), ended)
    watcher = threading.Thread(target=_poll, args=arguments, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
    progress(_at(start, start.total))


def _poll(
    progress: Progress, start: ProgressStep, input_bytes: int, ended: threading.Event
) -> None:
    before, furthest = _read_bytes(), start.done
    while not ended.wait(_POLL_SECONDS):
        share = (_read_bytes() - before) / input_bytes
        done = min(start.total, int(share * start.total))
        if done > furthest:
            furthest = done
            progress(_at(start, done))


def _read_bytes() -> int:
    """Return how many bytes this process has read so far, or 0."""
    try:
        counters = _COUNTERS.read_text()
    except OSError:
        return 0
    return int(counters.partition("rchar: ")[2].partition("\n")[0] or 0)


def _at(start: ProgressStep, done: int) -> ProgressStep:
    return ProgressStep(start.phase, start.table, done, start.total, start.unit)
