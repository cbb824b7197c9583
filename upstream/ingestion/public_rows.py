"""The rows of a snapshot's public tables, by digests: what an approval binds to.

Only of what everybody may read: a digest of private rows would tell about them. SHA-256
of every value in a fixed order, since whoever writes the files may look for two
contents that a weaker hash takes for one.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import duckdb

from privacy.schema import Dataset
from privacy.wording import counted
from upstream.files.reading_sql import quoted
from upstream.ingestion.likeness import limited_database

_AT_ONCE = 65_536  # rows whose digests are sorted in one statement


def public_rows(snapshot: Path, schema: Dataset) -> dict[str, str]:
    """Return the number of rows of each public table and their SHA-256, in words.

    Two tables have the same words only where they have the same columns, of the same
    types, and the same rows in the same order.

    Args:
        snapshot: Its file.
        schema: What it declares.

    Raises:
        duckdb.Error: The file cannot be read.
    """
    names = sorted(table.name for table in schema.tables.values() if table.is_public)
    if not names:
        return {}
    with limited_database() as connection:
        connection.execute(f"ATTACH {quoted(str(snapshot))} AS stored (READ_ONLY)")
        return {name: _in_words(connection, name) for name in names}


def public_rows_if_readable(snapshot: Path, schema: Dataset) -> dict[str, str] | None:
    """Return what ``public_rows`` does; None where the file cannot be read now."""
    try:
        return public_rows(snapshot, schema)
    except duckdb.Error:
        return None


def _in_words(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    columns = connection.execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = "
        "'stored' AND table_name = ? ORDER BY column_index",
        [name],
    ).fetchall()
    digest = hashlib.sha256(json.dumps(columns).encode())
    rows, last = connection.execute(
        f'SELECT COUNT(*), COALESCE(MAX(_row), 0) FROM stored."{name}"'  # noqa: S608 - a declared name
    ).fetchall()[0]
    one = _row_digest([str(column) for column, _ in columns])
    for first in range(0, last + 1, _AT_ONCE):
        found = connection.execute(
            f"SELECT string_agg({one}, '' ORDER BY _row) "  # noqa: S608 - as above
            f'FROM stored."{name}" WHERE _row BETWEEN ? AND ?',
            [first, first + _AT_ONCE - 1],
        ).fetchall()
        digest.update(str(found[0][0]).encode())
    return f"{counted(rows, 'row')}, sha256 {digest.hexdigest()}"


def _row_digest(columns: Sequence[str]) -> str:
    """Return the SQL of a row's SHA-256: each text with its length, NULL apart."""
    texts = (f'CAST("{column}" AS VARCHAR)' for column in columns)
    parts = (f"COALESCE(strlen({text}) || ':' || {text}, 'N')" for text in texts)
    return f"sha256({' || '.join(parts)})"
