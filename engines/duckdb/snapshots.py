"""Snapshot files, opened read-only and locked, shared by the queries that read them."""

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import Final

import duckdb

from privacy.errors import StoppingError
from query_lang.plans.rendered import HASH_KEY

VERSION: Final = f"duckdb {duckdb.__version__}"

LOCKED: Final = {
    "enable_external_access": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
"""The second wall. The first is that no text of an analyst reaches the engine."""

KEPT_OPTIMIZERS: Final = (
    "column_lifetime",
    "common_aggregate",
    "common_subexpressions",
    "expression_rewriter",
    "unused_columns",
)
"""What rewrites a statement by its text alone, and leaves its operators in place."""

OPTIMIZERS_OFF: Final = (
    "aggregate_function_rewriter",
    "aggregate_reuse",
    "build_side_probe_side",
    "common_subplan",
    "compressed_materialization",
    "cte_filter_pusher",
    "cte_inlining",
    "deliminator",
    "distinct_aggregate_rewrite",
    "duplicate_groups",
    "empty_result_pullup",
    "extension",
    "filter_pullup",
    "filter_pushdown",
    "grouping_sets",
    "in_clause",
    "join_elimination",
    "join_filter_pushdown",
    "join_order",
    "late_materialization",
    "limit_pushdown",
    "materialized_cte",
    "outer_join_simplification",
    "partial_aggregate_pushdown",
    "partitioned_execution",
    "projection_placement",
    "projection_pullup",
    "redundant_order_keys",
    "regex_range",
    "remote_pushdown",
    "reorder_filter",
    "row_group_pruner",
    "sampling_pushdown",
    "scalar_fn_pushdown",
    "statistics_propagation",
    "top_n",
    "top_n_window_elimination",
    "type_pushdown",
    "unnest_rewriter",
    "window_rewriter",
    "window_self_join",
)
"""What moves, adds, merges or chooses operators.

By stored values (row groups that a filter or the other side of a join cannot meet), by
numbers of stored rows (which side of a join is held), or in an order that was not the
one costed. ADR 10 tells each.
"""

BLIND: Final = {
    "disabled_optimizers": ",".join(OPTIMIZERS_OFF),
    "nested_loop_join_threshold": str(2**62),
}
"""Statements run as they are written, on whatever rows.

Every scan reads every row, each join holds the side that stands right, and joins of
inequalities alone are loops, however many rows there are. With statistics of values
DuckDB 2.0.0 also fails at ``CASE WHEN n = 5 THEN 'a' END = code`` where no n is 5.
"""

PUBLIC_ROWS: Final = {"disabled_optimizers": "statistics_propagation,join_order"}
"""For rows that are public, as those of releases: statements may fit them."""


TOTAL_MEMORY_BYTES: Final = 2 * 2**30
"""That the executors of one server process may use together, each an equal share.

Of each open snapshot; an executor keeps a second one open, idle.
"""


MAX_OPEN: Final = 2
"""Snapshots that one process keeps open at once."""


def memory_per_executor(executors: int) -> int:
    """Return the bytes that one execution may use, its public share of the total.

    >>> memory_per_executor(2)
    1073741824
    """
    return TOTAL_MEMORY_BYTES // executors


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """Public limits of the engine; none depends on a query.

    Attributes:
        memory_limit: Of one open snapshot, in DuckDB's words, such as ``"1GB"``.
        threads: That one open snapshot may use.
        max_open: Snapshots that may be open at once, beside those that jobs count.
    """

    memory_limit: str = "2GiB"
    threads: int = 2
    max_open: int = MAX_OPEN


@dataclass(slots=True)
class _Open:
    connection: duckdb.DuckDBPyConnection
    users: int = 0


class Snapshots:
    """The open snapshots of one folder: one connection each, closed when idle longest.

    A snapshot is a file ``<id>.duckdb`` that is never replaced in place. Whoever reads
    an old one goes on reading it after another has become active.
    """

    def __init__(self, folder: Path, limits: SnapshotLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._changed = Condition()
        self._open: dict[str, _Open] = {}  # least recently used first
        self._hash_key = new_hash_key()
        self._closing = False

    @contextmanager
    def cursor(
        self, snapshot: str, *, timeout_seconds: float
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Lend a fresh cursor of a snapshot; it is closed afterwards.

        Raises:
            TimeoutError: As many others as allowed stayed in use all the time.
            duckdb.Error: The file cannot be opened.
        """
        cursor = self._take(snapshot, timeout_seconds)
        try:
            set_hash_key(cursor, self._hash_key)
            yield cursor
        finally:
            cursor.close()
            self._give_back(snapshot)

    def close(self) -> None:
        """Close idle snapshots now, the others as soon as they are given back."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            for snapshot in [s for s, opened in self._open.items() if not opened.users]:
                self._open.pop(snapshot).connection.close()

    def close_removed(self) -> None:
        """Close idle snapshots whose file is gone: an open file keeps its rows."""
        with self._changed:
            idle = [s for s, opened in self._open.items() if not opened.users]
            for snapshot in idle:
                if not _file(self._folder, snapshot).exists():
                    self._open.pop(snapshot).connection.close()
            self._changed.notify_all()

    def _take(self, snapshot: str, timeout_seconds: float) -> duckdb.DuckDBPyConnection:
        with self._changed:
            had_room = self._changed.wait_for(
                lambda: self._closing or snapshot in self._open or self._make_room(),
                timeout_seconds,
            )
            if self._closing:
                raise StoppingError
            if not had_room:
                raise TimeoutError
            opened = self._open.pop(snapshot, None) or _Open(self._connect(snapshot))
            self._open[snapshot] = opened  # now the most recently used
            cursor = opened.connection.cursor()
            opened.users += 1
            return cursor

    def _give_back(self, snapshot: str) -> None:
        with self._changed:
            opened = self._open[snapshot]
            opened.users -= 1
            if self._closing and not opened.users:
                self._open.pop(snapshot).connection.close()
            self._changed.notify_all()

    def _make_room(self) -> bool:
        """Whether one more may be opened, after closing an idle one if need be."""
        if len(self._open) < self._limits.max_open:
            return True
        idle = next((s for s, opened in self._open.items() if not opened.users), None)
        if idle is None:
            return False
        self._open.pop(idle).connection.close()
        return True

    def _connect(self, snapshot: str) -> duckdb.DuckDBPyConnection:
        return _connected(self._folder, snapshot, self._limits)


class CountedSnapshots:
    """The snapshots that jobs count: each is open for one count, and nobody waits.

    Counts of different populations share nothing, since how long one waited would tell
    how long the other took (PRIVACY 6). How many there are at once is public: each
    population's queue has one.
    """

    def __init__(self, folder: Path, limits: SnapshotLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._closing = False

    @contextmanager
    def opened(self, snapshot: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a snapshot for the length of a block: no rows are kept after it.

        Raises:
            StoppingError: Nothing is opened any more.
            duckdb.Error: The file cannot be opened.
        """
        if self._closing:
            raise StoppingError
        with closing(_connected(self._folder, snapshot, self._limits)) as connection:
            set_hash_key(connection, new_hash_key())
            yield connection

    def close(self) -> None:
        """Open nothing more."""
        self._closing = True


def new_hash_key() -> int:
    """Return 64 bits of the operating system's, which leave this process never."""
    return secrets.randbits(64)


def set_hash_key(connection: duckdb.DuckDBPyConnection, key: int) -> None:
    """Give a session the secret of its keyed hashes; they are alike where it has none.

    Statements do not hold it: what is rendered, shown and compared has no secret.
    """
    connection.execute(f"SET VARIABLE {HASH_KEY} = {key}::UBIGINT")


def _file(folder: Path, snapshot: str) -> Path:
    return folder / f"{snapshot}.duckdb"


def _connected(
    folder: Path, snapshot: str, limits: SnapshotLimits
) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(
        _file(folder, snapshot),
        read_only=True,
        config={
            **LOCKED,
            **BLIND,
            "memory_limit": limits.memory_limit,
            "threads": str(limits.threads),
            "lock_configuration": "true",
        },
    )
