"""DuckDB over snapshot files: opened read-only, locked, interrupted at a deadline.

The lock is the second wall: no text of an analyst ever reaches the engine, which runs
only SQL rendered from our own plan with bound parameters.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from privacy.errors import ExecutionError
from privacy.sealed import Exact
from query_lang.compiled import RenderedPlan

MAX_OPEN_SNAPSHOTS = 2
DEADLINE_SECONDS = 60.0
_log = logging.getLogger("curator.engine")

_LOCKED = {
    "enable_external_access": "false",
    "allow_community_extensions": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_unsigned_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}


@dataclass(slots=True)
class _OpenSnapshot:
    connection: duckdb.DuckDBPyConnection
    users: int = 0


@dataclass(slots=True)
class DuckDbEngine:
    """Executes plans on the snapshots of one folder.

    Attributes:
        folder: Where ``<snapshot>.duckdb`` files lie.
        memory_limit: Of one open snapshot, in DuckDB's words.
        threads: Of one open snapshot.
        deadline_seconds: Public; reaching it is an incident, not an outcome.
        incidents: Executions that failed or were interrupted.
    """

    folder: Path
    memory_limit: str = "2GB"
    threads: int = 2
    deadline_seconds: float = DEADLINE_SECONDS
    incidents: int = 0
    _open: OrderedDict[str, _OpenSnapshot] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def execute(
        self, snapshot: str, plan: RenderedPlan
    ) -> tuple[Exact[tuple[int, ...]], ...]:
        """Return one sealed vector per measure, aligned with the plan's cells.

        Raises:
            ExecutionError: Whatever went wrong; carries no cause, since an engine's
                message may quote a row.
        """
        try:
            with self._cursor(snapshot) as cursor:
                rows = self._run(cursor, plan)
        except Exception as error:  # noqa: BLE001 - nothing of the cause may leave
            self.incidents += 1
            _log.error("execution failed: %s", type(error).__name__)
        else:
            return _seal(rows, plan)
        message = "execution failed"
        raise ExecutionError(message)

    def _run(
        self, cursor: duckdb.DuckDBPyConnection, plan: RenderedPlan
    ) -> list[tuple[object, ...]]:
        timer = threading.Timer(self.deadline_seconds, cursor.interrupt)
        timer.daemon = True
        timer.start()
        try:
            return cursor.execute(plan.sql, list(plan.parameters)).fetchall()
        finally:
            timer.cancel()

    @contextmanager
    def _cursor(self, snapshot: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """Hold a snapshot open while a query runs on it."""
        with self._lock:
            held = self._open.get(snapshot)
            if held is None:
                held = _OpenSnapshot(self._connect(snapshot))
                self._open[snapshot] = held
            self._open.move_to_end(snapshot)
            held.users += 1
            self._close_idle()
        try:
            with held.connection.cursor() as cursor:
                yield cursor
        finally:
            with self._lock:
                held.users -= 1
                self._close_idle()

    def _close_idle(self) -> None:
        """Close the least recently used snapshots over the limit that nobody reads."""
        for name in [name for name, held in self._open.items() if held.users == 0]:
            if len(self._open) <= MAX_OPEN_SNAPSHOTS:
                return
            self._open.pop(name).connection.close()

    def _connect(self, snapshot: str) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(
            str(self.folder / f"{snapshot}.duckdb"),
            read_only=True,
            config={
                **_LOCKED,
                "memory_limit": self.memory_limit,
                "threads": str(self.threads),
            },
        )
        connection.execute("SET lock_configuration = true")
        return connection

    def close(self) -> None:
        """Close every snapshot."""
        with self._lock:
            for held in self._open.values():
                held.connection.close()
            self._open.clear()


def _seal(
    rows: Sequence[tuple[object, ...]], plan: RenderedPlan
) -> tuple[Exact[tuple[int, ...]], ...]:
    """Lay rows out over the declared cells: missing cells are 0, strangers dropped."""
    keys = len(plan.stored_cells[0])
    counts = {row[:keys]: row[keys:] for row in rows}
    nothing = (0,) * plan.vector_count
    table = [counts.get(cell, nothing) for cell in plan.stored_cells]
    return tuple(
        Exact(tuple(int(str(row[vector])) for row in table))
        for vector in range(plan.vector_count)
    )
