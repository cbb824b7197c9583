"""What is computed of all rows of a relation, for a draft."""

from collections.abc import Sequence

import duckdb

from upstream.files.reading_sql import quoted_name

LEAST_UNITS = 2
"""That have a word or number which a draft shows: what one alone has is not shown."""


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


def units_sql(unit: str | None) -> str:
    """Return the aggregate of how many units there are; rows where no column says."""
    return "count(*)" if unit is None else f"count(DISTINCT {quoted_name(unit)})"
