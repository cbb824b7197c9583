"""One engine for the public values of all releases: shared, locked, and bounded."""

from threading import Lock
from typing import Final

import duckdb

from engines.deadlines import Deadlines
from engines.snapshots import BLIND, LOCKED
from query_lang.fragments import Fragment
from release.questions.keeping import Keeper

_MEMORY: Final = "512MB"
_KEPT_BYTES: Final = 64 * 2**20
_KEPT_EACH: Final = 2**20


class PublicEngine:
    """Evaluates over public values alone; safe for many threads.

    Attributes:
        deadlines: Interrupt what runs too long.
        kept: What was evaluated before, under whose it is and the text or name.
    """

    def __init__(self) -> None:
        self.deadlines = Deadlines()
        self.kept: Keeper[tuple[object, Fragment | str], object] = Keeper(
            _KEPT_BYTES, _KEPT_EACH
        )
        self._lock = Lock()
        self._connection = duckdb.connect(
            ":memory:",
            config={**LOCKED, **BLIND, "threads": "1", "memory_limit": _MEMORY},
        )

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection with temporary tables of its own."""
        with self._lock:
            cursor = self._connection.cursor()
        cursor.execute("PRAGMA disable_optimizer")  # the rows are few
        return cursor
