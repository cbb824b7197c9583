"""The embedded engine: DuckDB on snapshot files."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final

import duckdb

from engines.contract import SealedVector
from engines.snapshots import SnapshotLimits, Snapshots
from privacy.errors import ExecutionError
from privacy.schema import Scalar
from privacy.sealed import Exact
from query_lang.compiled import RenderedPlan

DEADLINE_SECONDS: Final = 60.0
"""Public, the server's own; reaching it is an incident, not an outcome (PRIVACY 5)."""

_log = logging.getLogger("curator.engine")
_INTERRUPT_EVERY_SECONDS: Final = 0.05

_Row = tuple[Scalar | None, ...]


class DuckDbEngine:
    """Executes rendered plans on the snapshots of one folder; safe for many threads."""

    def __init__(
        self,
        folder: Path,
        *,
        limits: SnapshotLimits = SnapshotLimits(),  # noqa: B008 - it is frozen
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        self._snapshots = Snapshots(folder, limits)
        self._deadline_seconds = deadline_seconds
        self._incidents = 0
        self._lock = Lock()

    @property
    def incidents(self) -> int:
        """Executions that failed since the start; for the operator alone."""
        return self._incidents

    def execute(self, snapshot: str, plan: RenderedPlan) -> tuple[SealedVector, ...]:
        """Return one sealed vector a measure, aligned with the plan's cells.

        Args:
            snapshot: The id of a snapshot file in the folder.
            plan: SQL of our own rendering, and the cells that its rows fill.

        Raises:
            ExecutionError: Execution failed. It has no cause and no context, since an
                engine's message may quote a value.
        """
        try:
            return _seal(plan, self._fetch(snapshot, plan))
        except Exception as error:  # noqa: BLE001 - nothing of the cause may leave
            _log.error("execution failed: %s", type(error).__name__)
        with self._lock:
            self._incidents += 1
        raise ExecutionError

    def close(self) -> None:
        """Open nothing more, and let go of every snapshot that is not in use."""
        self._snapshots.close()

    def _fetch(self, snapshot: str, plan: RenderedPlan) -> list[_Row]:
        lent = self._snapshots.cursor(snapshot, timeout_seconds=self._deadline_seconds)
        with lent as cursor, _interrupted_after(self._deadline_seconds, cursor):
            return cursor.execute(plan.sql, list(plan.parameters)).fetchall()


def _seal(plan: RenderedPlan, rows: Sequence[_Row]) -> tuple[SealedVector, ...]:
    """Lay rows out over the public cells: none for 0, strangers dropped.

    Raises:
        ValueError: Two rows fill one cell; the rendering is at fault.
    """
    places = {cell: place for place, cell in enumerate(plan.stored_cells)}
    vectors = [[0] * len(places) for _ in range(plan.vector_count)]
    filled = set()
    for row in rows:
        place = places.get(row[: -plan.vector_count])
        if place in filled:
            raise ValueError
        if place is not None:
            filled.add(place)
            for vector, value in zip(vectors, row[-plan.vector_count :], strict=True):
                vector[place] = _integer(value)
    return tuple(Exact(tuple(vector)) for vector in vectors)


def _integer(value: Scalar | None) -> int:
    """Return an aggregate as it counts; the sum of nothing is 0."""
    if value is None:
        return 0
    if not isinstance(value, int):
        raise TypeError
    return value


@contextmanager
def _interrupted_after(
    deadline_seconds: float, cursor: duckdb.DuckDBPyConnection
) -> Iterator[None]:
    """Interrupt whatever ``cursor`` still runs once the deadline has passed.

    It interrupts again and again, since an interrupt before the query starts is lost.
    """
    done = Event()

    def watch() -> None:
        if not done.wait(deadline_seconds):
            while not done.is_set():
                cursor.interrupt()
                done.wait(_INTERRUPT_EVERY_SECONDS)

    watcher = Thread(target=watch, name="query deadline", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()  # so that no interrupt meets a closed cursor
