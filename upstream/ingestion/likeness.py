"""Whether two snapshot files hold the same rows, for their custodian alone.

Nothing of it is stored or shown to anybody else: a digest of rows tells about them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from upstream.ingestion.ingestion import MEMORY_LIMIT

Likeness = tuple[tuple[object, ...], ...]


def same_rows(first: Path, second: Path) -> bool:
    """Whether two snapshots hold the same tables with the same rows, in any order.

    Compared by the number of rows and a sum of their 64-bit hashes, table by table: a
    hint, and no proof. False where one of them cannot be read now, or takes more memory
    than a load may.

    Args:
        first: A snapshot file.
        second: Another one.
    """
    try:
        with limited_database() as connection:
            for name, path in (("first", first), ("second", second)):
                escaped = str(path).replace("'", "''")
                connection.execute(f"ATTACH '{escaped}' AS {name} (READ_ONLY)")
            tables = _tables(connection, "first")
            held = {str(row[0]) for row in tables}
            return tables == _tables(connection, "second") and all(
                _like(connection, "first", table) == _like(connection, "second", table)
                for table in held
            )
    except duckdb.Error:
        return False


@contextmanager
def limited_database() -> Iterator[duckdb.DuckDBPyConnection]:
    """Lend a database in memory that leaves processors and memory to answers."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY_LIMIT,
        "threads": "1",
        "temp_directory": "",  # sums of hashes spill nothing
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    with duckdb.connect(":memory:", config=config) as connection:
        yield connection


def _tables(connection: duckdb.DuckDBPyConnection, snapshot: str) -> Likeness:
    """Return each table's columns with their types."""
    return tuple(
        connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE database_name = ? ORDER BY table_name, column_index",
            [snapshot],
        ).fetchall()
    )


def _like(
    connection: duckdb.DuckDBPyConnection, snapshot: str, table: str
) -> tuple[object, ...] | None:
    """Return a table's number of rows and the sum of their hashes."""
    named = f'{snapshot}."{table}"'
    row: tuple[object, ...] | None = connection.execute(
        f'SELECT COUNT(*), SUM(hash("#row")::HUGEINT) FROM {named} AS "#row"'  # noqa: S608 - our own names
    ).fetchone()
    return row
