"""Every unit of a load, once: are the keys apart, and what do populations compare?

Staging collects them in the temporary table ``people``, from every private table:
``unit_key``; ``digest``, the population's, which stands for the unit; and hashes, for
this load alone, of the id without what spellings differ in (``upstream.loose_ids``).
The table ``spelled`` has the digests of ids as they are before ``unit_fold``, so that
populations that fold otherwise can be compared.
"""

import duckdb

from privacy.schema import NOBODY
from upstream.declarations import FOLDS
from upstream.errors import IngestionError, Problem
from upstream.loose_ids import loose_sql
from upstream.row_hash import population_id_sql

_FETCHED_ROWS = 10_000


def prepare_units(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the empty tables that staging fills."""
    loose = ", ".join(f"{fold}_loose UBIGINT" for fold in FOLDS)
    connection.execute(
        "CREATE TEMP TABLE people "
        f"(unit_key BIGINT, digest BLOB, loose UBIGINT, {loose}); "
        "CREATE TEMP TABLE spelled (digest BLOB)"
    )


def collect_units(connection: duckdb.DuckDBPyConnection, ids: str) -> int:
    """Add the units of a table of ids; return how many spellings it has of them.

    Args:
        connection: It holds the key of digests.
        ids: Columns ``uid``, ``plain_uid`` and ``unit_key``, a row a spelling.
    """
    each = ", ".join(f"hash({loose_sql('uid', (fold,))})" for fold in FOLDS)
    connection.execute(
        f"INSERT INTO temp.people SELECT unit_key, {population_id_sql('uid')}, "  # noqa: S608 - our own names
        f"hash({loose_sql('uid')}), {each} "
        f"FROM (SELECT DISTINCT unit_key, uid FROM {ids} WHERE uid IS NOT NULL)"
    )
    connection.execute(
        f"INSERT INTO temp.spelled SELECT {population_id_sql('plain_uid')} FROM "  # noqa: S608 - as above
        f"(SELECT DISTINCT plain_uid FROM {ids} WHERE plain_uid <> uid)"
    )
    found = connection.execute(
        f"SELECT count(*) FROM {ids} WHERE uid IS NOT NULL"  # noqa: S608 - as above
    ).fetchone()
    return int(found[0]) if found else 0


def count_units(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many units all private tables of the load have together.

    Raises:
        IngestionError: Two units have the same 64-bit key, or one has that of nobody.
    """
    nobody = connection.execute(
        f"SELECT count(*) FROM temp.people WHERE unit_key = {NOBODY}"  # noqa: S608 - our own number
    ).fetchone()
    if nobody != (0,):
        raise IngestionError((collision("a unit and nobody"),))
    counts = connection.execute(
        "SELECT count(DISTINCT digest), count(DISTINCT unit_key), "
        "count(DISTINCT (digest, unit_key)) FROM temp.people"
    ).fetchone() or (0, 0, 0)
    if len(set(counts)) > 1:
        raise IngestionError((collision("two units"),))
    return int(counts[0])


def count_alike(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return how many units have an id that differs from another's in spelling alone.

    By what they differ in, and in any of it (``any``).
    """
    columns = {fold: f"{fold}_loose" for fold in FOLDS} | {"any": "loose"}
    return {name: _count_alike(connection, column) for name, column in columns.items()}


def _count_alike(connection: duckdb.DuckDBPyConnection, column: str) -> int:
    found = connection.execute(
        f"SELECT sum(n) FROM (SELECT count(DISTINCT unit_key) AS n FROM temp.people "  # noqa: S608 - our own names
        f"GROUP BY {column} HAVING count(DISTINCT unit_key) > 1)"
    ).fetchone()
    return int(found[0] or 0) if found else 0


def population_digests(connection: duckdb.DuckDBPyConnection) -> bytes:
    """Return the population's sorted digests of 16 bytes.

    One a unit, and one more for each other spelling of a unit that ``unit_fold`` joins.
    """
    found = bytearray()
    rows = connection.execute(
        "SELECT digest FROM temp.people UNION SELECT digest FROM temp.spelled "
        "ORDER BY digest"
    )
    while part := rows.fetchmany(_FETCHED_ROWS):
        found += b"".join(digest for (digest,) in part)
    return bytes(found)


def collision(what: str) -> Problem:
    """Return the refusal of a 64-bit collision (odds below one in millions)."""
    sentence = (
        f"{what} have the same 64-bit hash: this cannot be mended in the files; "
        "load into an installation with another secret"
    )
    return Problem("snapshot", None, None, sentence)
