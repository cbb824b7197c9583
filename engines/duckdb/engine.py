"""The embedded engine: DuckDB on snapshot files."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from engines.contract import (
    Capacity,
    Execution,
    Filled,
    Interruptible,
    SealedCounts,
    SealedVector,
)
from engines.duckdb.cubes import ROWS_AT_ONCE, sparse_counts
from engines.duckdb.deadlines import Deadlines
from engines.duckdb.filling import Row, filled_vectors
from engines.duckdb.sequences import sequence_counts
from engines.duckdb.snapshots import (
    TOTAL_MEMORY_BYTES,
    VERSION,
    CountedSnapshots,
    SnapshotLimits,
    Snapshots,
    memory_per_executor,
)
from engines.incidents import Incidents
from privacy.errors import ExecutionError, StoppingError
from privacy.sealed import Exact
from privacy.sequences import SequenceCounts
from query_lang.plans.rendered import RenderedPlan
from query_lang.specs.cubes import CubeStatement
from query_lang.specs.sequences import SequenceStatement

DEADLINE_SECONDS: Final = 60.0
"""Public, the server's own; reaching it is an incident, not an outcome (PRIVACY 5)."""

LONG_DEADLINE_SECONDS: Final = 3_600.0
"""As above, for the cubes and sequences that jobs count in the background."""

_Made = TypeVar("_Made")


def capacity(executors: int) -> Capacity:
    """Return what one execution is given where so many share the engine."""
    return Capacity(
        question_memory_bytes=memory_per_executor(executors),
        question_deadline_seconds=DEADLINE_SECONDS,
        release_memory_bytes=TOTAL_MEMORY_BYTES,
        release_deadline_seconds=LONG_DEADLINE_SECONDS,
    )


@dataclass(frozen=True, slots=True)
class _Filled:
    """Vectors that this process filled itself."""

    vectors: tuple[SealedVector, ...]

    def sealed(self) -> tuple[SealedVector, ...]:
        return self.vectors


@dataclass(frozen=True, slots=True)
class _Execution:
    """A plan that this process runs itself."""

    vectors: Callable[[], tuple[SealedVector, ...]]

    def run(self) -> Filled:
        return _Filled(self.vectors())


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
        self._counted_snapshots = CountedSnapshots(folder, limits)
        self._deadline_seconds = deadline_seconds
        self._deadlines = Deadlines()
        self._incidents = Incidents()

    @property
    def version(self) -> str:
        """Its name and version: others may read a statement otherwise."""
        return VERSION

    @property
    def incidents(self) -> int:
        """Executions that failed since the start; for the operator alone."""
        return self._incidents.failed

    @property
    def limit_incidents(self) -> int:
        """Those of them that met the memory limit or the deadline."""
        return self._incidents.at_limit

    def start(self, snapshots: Sequence[str] = ()) -> None:
        """Open snapshots.

        Raises:
            ExecutionError: One cannot be opened.
        """
        if not all(self.can_open(snapshot) for snapshot in snapshots):
            raise ExecutionError

    def check(self) -> None:
        """Do nothing: this process is there."""

    def execution(self, snapshot: str, plan: RenderedPlan) -> Execution:
        """Return what runs a plan: as of ``Engine``."""
        return _Execution(lambda: self._blinded(lambda: self._sealed(snapshot, plan)))

    def execute(self, snapshot: str, plan: RenderedPlan) -> tuple[SealedVector, ...]:
        """Run a plan at once.

        Args:
            snapshot: The id of a snapshot file in the folder.
            plan: SQL of our own rendering, and the places that its rows fill.

        Raises:
            ExecutionError: Execution failed. It has no cause and no context, since an
                engine's message may quote a value.
            StoppingError: The engine was closed before it began; nothing failed.
        """
        return self.execution(snapshot, plan).run().sealed()

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
            self._incidents.count(type(error).__name__)
        raise ExecutionError

    def can_open(self, snapshot: str) -> bool:
        """Whether a snapshot can be read at all; it is closed again."""
        try:
            with self._counted_snapshots.opened(snapshot) as connection:
                connection.execute("SELECT 1")
        except Exception:  # noqa: BLE001 - why does not matter, and may quote a value
            return False
        return True

    def close_removed(self) -> None:
        """Let go of snapshots whose file was removed, once nobody reads them."""
        self._snapshots.close_removed()

    def close(self) -> None:
        """Open nothing more, and let go of every snapshot that is not in use."""
        self._counted_snapshots.close()
        self._snapshots.close()

    def _sealed(self, snapshot: str, plan: RenderedPlan) -> tuple[SealedVector, ...]:
        """Run the statements one after the other, and seal what they fill."""
        asked = (snapshot, plan, self._deadline_seconds)
        vectors = filled_vectors(self._snapshots, self._deadlines, asked)
        return tuple(Exact(tuple(vector)) for vector in vectors)

    def _counted(
        self,
        snapshot: str,
        statement: CubeStatement | SequenceStatement,
        interruptible: Interruptible,
        made: Callable[[Iterator[list[Row]]], _Made],
    ) -> Exact[_Made]:
        """Run a long statement, and seal what is made of its rows."""
        with (
            self._counted_snapshots.opened(snapshot) as opened,
            self._deadlines.within(opened, LONG_DEADLINE_SECONDS),
            interruptible(opened.interrupt),
        ):
            opened.execute(statement.sql, list(statement.parameters))
            return Exact(made(iter(lambda: opened.fetchmany(ROWS_AT_ONCE), [])))
