"""One engine for the public values of all releases: shared, locked, and bounded."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

import duckdb

from engines.duckdb.deadlines import Deadlines
from engines.duckdb.snapshots import LOCKED, PUBLIC_ROWS
from engines.incidents import Incidents
from query_lang.rendering.fragments import Fragment
from release.cubes.questions.evaluating.keeping import Keeper

_MEMORY: Final = "512MB"
_KEPT_BYTES: Final = 64 * 2**20
_KEPT_EACH: Final = 2**20

SAFETY_SECONDS: Final = 20.0
"""Seconds after which a question is given up: over ten times what the most steps take.
It decides nothing: what runs so long is an incident."""


class PublicEngineError(Exception):
    """Public values were not evaluated, though the steps were within the limit."""


class PublicEngine:
    """Evaluates over public values alone; safe for many threads.

    Attributes:
        incidents: Counts what met the memory limit or ``SAFETY_SECONDS``.
        kept: What was evaluated before, under whose it is and the text or name.
    """

    def __init__(self, incidents: Incidents | None = None) -> None:
        self.incidents = incidents or Incidents()
        self._deadlines = Deadlines()
        self.kept: Keeper[tuple[object, Fragment | str], object] = Keeper(
            _KEPT_BYTES, _KEPT_EACH
        )
        self._lock = Lock()
        self._connection = duckdb.connect(
            ":memory:",
            config={**LOCKED, **PUBLIC_ROWS, "threads": "1", "memory_limit": _MEMORY},
        )

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection with temporary tables of its own."""
        with self._lock:
            cursor = self._connection.cursor()
        cursor.execute("PRAGMA disable_optimizer")  # the rows are few
        return cursor

    @contextmanager
    def watched(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Count what fails inside this block as an incident: no text may make it.

        Raises:
            PublicEngineError: The engine failed.
        """
        try:
            with self._deadlines.within(cursor, SAFETY_SECONDS):
                yield
        except duckdb.Error as error:
            self.incidents.count(type(error).__name__)
            raise PublicEngineError from error
