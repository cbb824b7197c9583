"""Every unit of a load, once: are the keys apart, and what do populations compare?

Staging collects them in the temporary table ``units`` (``unit_key``, ``digest``), from
every private table; ``digest`` is the population's, and stands for the unit.
"""

import duckdb

from upstream.errors import IngestionError, Problem

_FETCHED_ROWS = 10_000


def prepare_units(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the empty table that staging fills."""
    connection.execute("CREATE TEMP TABLE units (unit_key BIGINT, digest BLOB)")


def count_units(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many units all private tables of the load have together."""
    found = connection.execute(
        "SELECT count(DISTINCT unit_key) FROM temp.units"
    ).fetchone()
    return int(found[0]) if found else 0


def population_digests(connection: duckdb.DuckDBPyConnection) -> bytes:
    """Return the population's sorted digests, 16 bytes a unit.

    Raises:
        IngestionError: Two units have the same 64-bit key.
    """
    connection.execute(
        "CREATE TEMP TABLE people AS SELECT DISTINCT unit_key, digest FROM temp.units; "
        "DROP TABLE temp.units"
    )
    counts = connection.execute(
        "SELECT count(*), count(DISTINCT unit_key) FROM temp.people"
    ).fetchone()
    if counts is None or counts[0] != counts[1]:
        raise IngestionError((collision("two units"),))
    found = bytearray()
    rows = connection.execute("SELECT DISTINCT digest FROM temp.people ORDER BY digest")
    while part := rows.fetchmany(_FETCHED_ROWS):
        found += b"".join(digest for (digest,) in part)
    connection.execute("DROP TABLE temp.people")
    return bytes(found)


def collision(what: str) -> Problem:
    """Return the refusal of a 64-bit collision (odds below one in millions)."""
    sentence = (
        f"{what} have the same 64-bit hash: this cannot be mended in the files; "
        "load into an installation with another secret"
    )
    return Problem("snapshot", None, None, sentence)
