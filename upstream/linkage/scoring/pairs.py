"""Pairs that passes bring together, and pairs that are given."""

from collections.abc import Sequence

import duckdb

from upstream.linkage.blocking.pairing import is_new_sql, met_sql
from upstream.linkage.scoring.preparing import TABLE

_GIVEN = '"pair:given"'


def new_pairs_sql(place: int, once: Sequence[str], since: int = 1) -> str:
    """Return what brings the pairs of a pass that no pass before it brings.

    Args:
        place: Of the pass, from 0.
        once: Sources within which no two records are one patient's.
        since: The right record's smallest number.
    """
    return (
        f"{TABLE} AS l JOIN {TABLE} AS r ON {met_sql(place, once)} "
        f"AND r.number >= {int(since)} AND {is_new_sql(place)}"
    )


def count_pairs(connection: duckdb.DuckDBPyConnection, pairs: str) -> int:
    """Return how many pairs there are."""
    (found,) = connection.execute(f"SELECT count(*) FROM {pairs}").fetchall()  # noqa: S608 - our own names
    return int(found[0])


def given_pairs_sql(
    connection: duckdb.DuckDBPyConnection, pairs: Sequence[tuple[int, int]]
) -> str:
    """Write pairs into a table of their own; return what brings their records."""
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_GIVEN} AS SELECT DISTINCT "  # noqa: S608 - our own name
        "least(one, other) AS one, greatest(one, other) AS other FROM "
        "(SELECT unnest(?::INTEGER[]) AS one, unnest(?::INTEGER[]) AS other)",
        [[left for left, _ in pairs], [right for _, right in pairs]],
    )
    return (
        f"{_GIVEN} AS given JOIN {TABLE} AS l ON l.number = given.one "
        f"JOIN {TABLE} AS r ON r.number = given.other"
    )


def begin_pairs(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the empty table that scored pairs are collected in."""
    connection.execute(
        'CREATE OR REPLACE TEMP TABLE "pair:found" '
        '("left" INTEGER, "right" INTEGER, score DOUBLE, weight DOUBLE, '
        "differs BOOLEAN)"
    )


def collect_pairs(
    connection: duckdb.DuckDBPyConnection, weighed: str, review: float
) -> None:
    """Add the pairs of a query of scored ones whose score is high enough."""
    connection.execute(
        'INSERT INTO "pair:found" SELECT "left", "right", "is:score", "is:weight", '  # noqa: S608 - names are quoted
        f'"is:differs" FROM ({weighed}) WHERE "is:score" >= ?',
        [review],
    )


def end_pairs(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``pair`` of what was collected, ordered."""
    connection.execute(
        'CREATE OR REPLACE TABLE pair AS SELECT * FROM "pair:found" '
        'ORDER BY "left", "right"; DROP TABLE "pair:found"'
    )
