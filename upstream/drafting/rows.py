"""What is computed of all rows of a relation, for a draft."""

from collections.abc import Sequence

import duckdb


def row_of(
    connection: duckdb.DuckDBPyConnection, rows: str, wanted: Sequence[str]
) -> tuple[object, ...]:
    """Return some aggregates over all rows.

    Args:
        connection: Where they are looked at.
        rows: The relation.
        wanted: The aggregates, by our own texts and quoted names.
    """
    if not wanted:
        return ()
    found = connection.execute(f"SELECT {', '.join(wanted)} FROM {rows}").fetchone()  # noqa: S608 - quoted names
    return tuple(found or ())
