"""Every unit of a load, once: are the keys apart, and what do populations compare?"""

from collections.abc import Sequence

from upstream.errors import IngestionError, Problem
from upstream.progress import Step
from upstream.row_hash import field_sql, hmac_hex_sql
from upstream.staging import Bench, StagedTable

POPULATION_ID_BYTES = 16
_FETCHED_ROWS = 10_000


def name_units(bench: Bench, staged: Sequence[StagedTable]) -> bytes:
    """Return the population's sorted digests, 16 bytes a unit.

    Raises:
        IngestionError: Two units have the same 64-bit key.
    """
    digest = (
        f"left({hmac_hex_sql('people', field_sql('uid'))}, {2 * POPULATION_ID_BYTES})"  # noqa: E501 - one expression
    )
    connection = bench.connection
    connection.execute("CREATE TEMP TABLE units (unit_key BIGINT, digest BLOB)")
    for table in staged:
        buckets = table.buckets()
        for done, bucket in enumerate(buckets):
            done_rows = table.rows_read * done // len(buckets)
            total = max(1, table.rows_read)
            bench.progress(Step("units", table.table.name, done_rows, total, "rows"))
            connection.execute(
                f"INSERT INTO temp.units SELECT unit_key, unhex({digest}) FROM "  # noqa: S608 - our own names
                f"(SELECT DISTINCT unit_key, uid FROM {bucket})"
            )
    return _checked(bench)


def _checked(bench: Bench) -> bytes:
    connection = bench.connection
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
