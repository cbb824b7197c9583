"""The embedded engine: DuckDB on snapshot files."""

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

import duckdb

from engines.contract import Interruptible, SealedCounts, SealedVector
from engines.cubes import ROWS_AT_ONCE, sparse_counts
from engines.deadlines import Deadlines
from engines.sequences import sequence_counts
from engines.snapshots import SnapshotLimits, Snapshots
from privacy.errors import ExecutionError, StoppingError
from privacy.schema import Scalar
from privacy.sealed import SATURATION, Exact
from privacy.sequences import SequenceCounts
from query_lang.compiled import RenderedPlan, Statement
from query_lang.cubes import CubeStatement
from query_lang.sequences import SequenceStatement

DEADLINE_SECONDS: Final = 60.0
"""Public, the server's own; reaching it is an incident, not an outcome (PRIVACY 5)."""

LONG_DEADLINE_SECONDS: Final = 3_600.0
"""As above, for the cubes and sequences that jobs count in the background."""

_log = logging.getLogger("curator.engine")
_ROWS_AT_ONCE: Final = 10_000

_Made = TypeVar("_Made")
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
        self._deadlines = Deadlines()
        self._incidents = 0
        self._lock = Lock()

    @property
    def incidents(self) -> int:
        """Executions that failed since the start; for the operator alone."""
        return self._incidents

    def execute(self, snapshot: str, plan: RenderedPlan) -> tuple[SealedVector, ...]:
        """Return one sealed vector a measure, aligned with its statement's places.

        Args:
            snapshot: The id of a snapshot file in the folder.
            plan: SQL of our own rendering, and the places that its rows fill.

        Raises:
            ExecutionError: Execution failed. It has no cause and no context, since an
                engine's message may quote a value.
            StoppingError: The engine was closed before it began; nothing failed.
        """
        return self._blinded(lambda: self._sealed(snapshot, plan))

    def count_cube(
        self, snapshot: str, cube: CubeStatement, interruptible: Interruptible
    ) -> SealedCounts:
        """Return the counts of a cube's cells, sealed.

        Raises:
            ExecutionError: As ``execute``; or ``interruptible`` ended it.
            StoppingError: As ``execute``.
        """
        return self._blinded(
            lambda: self._counted(
                snapshot, cube, interruptible, lambda rows: sparse_counts(cube, rows)
            )
        )

    def count_sequences(
        self,
        snapshot: str,
        sequences: SequenceStatement,
        interruptible: Interruptible,
    ) -> Exact[SequenceCounts]:
        """Return the units' distinct sequences and how many have each, sealed.

        Raises:
            ExecutionError: As ``execute``; or ``interruptible`` ended it.
            StoppingError: As ``execute``.
        """
        return self._blinded(
            lambda: self._counted(
                snapshot,
                sequences,
                interruptible,
                lambda rows: sequence_counts(sequences, rows),
            )
        )

    def _blinded(self, run: Callable[[], _Made]) -> _Made:
        """Run something on raw rows; of its failure nothing leaves but that it was."""
        try:
            return run()
        except StoppingError:
            raise
        except Exception as error:  # noqa: BLE001 - nothing of the cause may leave
            _log.error("execution failed", extra={"error": type(error).__name__})
        with self._lock:
            self._incidents += 1
        raise ExecutionError

    def can_open(self, snapshot: str) -> bool:
        """Whether a snapshot can be read at all; for ``curator doctor``."""
        lent = self._snapshots.cursor(snapshot, timeout_seconds=self._deadline_seconds)
        try:
            with lent as cursor:
                cursor.execute("SELECT 1")
        except Exception:  # noqa: BLE001 - why does not matter, and may quote a value
            return False
        return True

    def close_removed(self) -> None:
        """Let go of snapshots whose file was removed, once nobody reads them."""
        self._snapshots.close_removed()

    def close(self) -> None:
        """Open nothing more, and let go of every snapshot that is not in use."""
        self._snapshots.close()

    def _sealed(self, snapshot: str, plan: RenderedPlan) -> tuple[SealedVector, ...]:
        """Run the statements one after the other, and seal what they fill.

        One cursor of one read-only file, so they read the same rows.
        """
        deadline = self._deadline_seconds
        filled: dict[int, list[int]] = {}
        lent = self._snapshots.cursor(snapshot, timeout_seconds=deadline)
        with lent as cursor, self._deadlines.within(cursor, deadline) as watch:
            for statement in plan.statements:
                if watch.passed:
                    raise TimeoutError
                _fill(filled, statement, _rows(cursor, statement))
        return tuple(Exact(tuple(filled[i])) for i in range(plan.vector_count))

    def _counted(
        self,
        snapshot: str,
        statement: CubeStatement | SequenceStatement,
        interruptible: Interruptible,
        made: Callable[[Iterator[list[_Row]]], _Made],
    ) -> Exact[_Made]:
        """Run a long statement, and seal what is made of its rows."""
        deadline = LONG_DEADLINE_SECONDS
        lent = self._snapshots.cursor(snapshot, timeout_seconds=deadline)
        with (
            lent as cursor,
            self._deadlines.within(cursor, deadline),
            interruptible(cursor.interrupt),
        ):
            cursor.execute(statement.sql, list(statement.parameters))
            return Exact(made(iter(lambda: cursor.fetchmany(ROWS_AT_ONCE), [])))


def _rows(cursor: duckdb.DuckDBPyConnection, statement: Statement) -> Iterator[_Row]:
    """Yield the rows of a statement; most of them may be strangers to its places."""
    cursor.execute(statement.sql, list(statement.parameters))
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        yield from rows


def _fill(
    filled: dict[int, list[int]], statement: Statement, rows: Iterable[_Row]
) -> None:
    """Lay rows out over places: none for 0, strangers dropped.

    Raises:
        ValueError: Two rows fill one place, two places have one key, or two statements
            fill one vector; the rendering is at fault.
    """
    width = len(statement.vectors)
    places = {key: place for place, key in enumerate(statement.places)}
    if not width or len(places) < len(statement.places):
        raise ValueError
    if not filled.keys().isdisjoint(statement.vectors):
        raise ValueError
    vectors = [[0] * len(places) for _ in range(width)]
    seen = set()
    for row in rows:
        place = places.get(row[:-width])
        if place in seen:
            raise ValueError
        if place is not None:
            seen.add(place)
            for vector, value in zip(vectors, row[-width:], strict=True):
                vector[place] = _saturated(value)
    filled.update(zip(statement.vectors, vectors, strict=True))


def _saturated(value: Scalar | None) -> int:
    """Return an aggregate as it counts; the sum of nothing is 0."""
    if value is None:
        return 0
    if not isinstance(value, int):
        raise TypeError
    return max(-SATURATION, min(SATURATION, value))
