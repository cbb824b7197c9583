"""How far a load has come, told to whoever watches (never to an analyst)."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import duckdb

Phase = Literal["check", "units", "read", "rank", "write"]
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """One word of a load in progress.

    Attributes:
        phase: ``check`` the files' form, name the ``units``, ``read`` (parse and hash)
            all rows, ``rank`` rows within their units, ``write`` the snapshot.
        table: The table at work.
        done: How much of ``total``, in ``unit``.
        total: Never 0.
        unit: What is counted.
    """

    phase: Phase
    table: str
    done: int
    total: int
    unit: Literal["bytes", "rows"]

    @property
    def percent(self) -> int:
        """The phase's part that is done, rounded down, 0 to 100."""
        return min(100, 100 * self.done // self.total)


Progress = Callable[[Step], None]


def silent(_step: Step) -> None:
    """Tell nobody."""


@contextmanager
def watched(
    connection: duckdb.DuckDBPyConnection, progress: Progress, start: Step
) -> Iterator[None]:
    """Report the share of the running statement that DuckDB knows of, now and then.

    The share never goes back, and it is told to be whole only when the block ends
    without an error.
    """
    progress(start)
    ended = threading.Event()
    watcher = threading.Thread(
        target=_poll, args=(connection, progress, start, ended), daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
    progress(_at(start, start.total))


def _poll(
    connection: duckdb.DuckDBPyConnection,
    progress: Progress,
    start: Step,
    ended: threading.Event,
) -> None:
    furthest = start.done
    while not ended.wait(_POLL_SECONDS):
        share = max(0.0, connection.query_progress()) / 100
        done = min(start.total, int(share * start.total))
        if done > furthest:
            furthest = done
            progress(_at(start, done))


def _at(start: Step, done: int) -> Step:
    return Step(start.phase, start.table, done, start.total, start.unit)
