"""What blocking brought together, counted."""

from collections.abc import Sequence

import duckdb

from upstream.linkage.blocking.blocks import Blocked
from upstream.linkage.blocking.pairing import rules_met_sql
from upstream.linkage.blocking.report import BlockingReport, PassReport, chao
from upstream.linkage.scoring.pairs import (
    count_pairs,
    given_pairs_sql,
    new_pairs_sql,
)
from upstream.linkage.scoring.preparing import TABLE

_SURE = 0.99  # score from which on a pair is taken for a match


def report_of(
    connection: duckdb.DuckDBPyConnection,
    blocked: Sequence[Blocked],
    once: Sequence[str],
    matches: Sequence[tuple[int, int]],
) -> BlockingReport:
    """Return what each pass brings together, and what all may have missed.

    Args:
        connection: It holds ``compared``, and ``pair`` if pairs were scored.
        blocked: Of the passes.
        once: Sources within which no pair is compared.
        matches: Labelled matches.
    """
    passes = tuple(
        PassReport(
            str(each.rule),
            each.pairs,
            count_pairs(connection, new_pairs_sql(place, once)),
            each.largest,
            each.left_out,
            each.left_out_records,
        )
        for place, each in enumerate(blocked)
    )
    return BlockingReport(
        passes,
        sum(each.new for each in passes),
        _completeness(connection, len(passes)),
        _labelled_completeness(connection, len(passes), matches),
    )


def _completeness(connection: duckdb.DuckDBPyConnection, passes: int) -> float | None:
    """Return Chao's estimate from the pairs that are surely matches."""
    (tables,) = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'pair'"
    ).fetchall()
    if not tables[0]:
        return None
    (found,) = connection.execute(
        "SELECT count(*) FILTER (passes = 1), count(*) FILTER (passes = 2), count(*) "  # noqa: S608 - our own names
        f"FROM (SELECT {rules_met_sql(passes)} AS passes FROM pair "
        f'JOIN {TABLE} AS l ON l.number = pair."left" '
        f'JOIN {TABLE} AS r ON r.number = pair."right" WHERE pair.score >= {_SURE})'
    ).fetchall()
    return chao(*found)


def _labelled_completeness(
    connection: duckdb.DuckDBPyConnection,
    passes: int,
    matches: Sequence[tuple[int, int]],
) -> float | None:
    """Return the part of the labelled matches that some pass brings together."""
    if not matches:
        return None
    given = given_pairs_sql(connection, matches)
    (found,) = connection.execute(
        f"SELECT avg(({rules_met_sql(passes)} > 0)::INTEGER) FROM {given}"  # noqa: S608 - our own names
    ).fetchall()
    return None if found[0] is None else float(found[0])
