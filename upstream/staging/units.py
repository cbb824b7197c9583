"""Every unit of a load, once: are the keys apart, and what do populations compare?

Staging collects them in temporary tables, from every private table. ``people`` has
``unit_key``; ``digest``, the population's, which stands for the unit; and hashes, for
this load alone, of the id without what ``unit_fold`` may join; ``is_word``: it has no
digit. ``forms`` has the
digests of each unit's forms (``upstream.id_forms.loose_ids``), by which populations,
and what is public, are compared; ``spelled`` those of ids as they are before
``unit_fold``; ``numbers`` has hashes of the digits of ids with letters. Where a linkage
gave the units their keys, ``forms`` and ``numbers`` have the ids of its sources, too.
"""

from pathlib import Path

import duckdb

from privacy.schema import NOBODY
from upstream.errors import IngestionError, Problem
from upstream.files.reading_sql import quoted
from upstream.id_forms.loose_ids import forms_sql, number_sql
from upstream.manifests.declarations import FOLDS
from upstream.staging.canonical import folded_sql
from upstream.staging.row_hash import population_id_sql, unit_key_sql

_FETCHED_ROWS = 10_000


def prepare_units(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the empty tables that staging fills."""
    loose = ", ".join(f"{fold}_loose UBIGINT" for fold in FOLDS)
    connection.execute(
        "CREATE TEMP TABLE people "
        f"(unit_key BIGINT, digest BLOB, is_word BOOLEAN, loose UBIGINT, {loose}); "
        "CREATE TEMP TABLE forms (unit_key BIGINT, digest BLOB, is_kept BOOLEAN); "
        "CREATE TEMP TABLE numbers (unit_key BIGINT, number UBIGINT); "
        "CREATE TEMP TABLE spelled (unit_key BIGINT, digest BLOB)"
    )


def collect_units(connection: duckdb.DuckDBPyConnection, ids: str) -> int:
    """Add the units of a table of ids; return how many spellings it has of them.

    Args:
        connection: It holds the key of digests, and the functions of ``loose_ids``.
        ids: Columns ``uid``, ``plain_uid`` and ``unit_key``, a row a spelling.
    """
    each = ", ".join(f"hash({folded_sql('uid', (fold,))})" for fold in FOLDS)
    digest = population_id_sql("form")
    connection.execute(
        f"CREATE TEMP TABLE fresh AS SELECT *, {population_id_sql('uid')} AS digest, "  # noqa: S608 - our own names
        f"{forms_sql('uid', 'id_forms')} AS forms "
        f"FROM (SELECT DISTINCT unit_key, uid FROM {ids} WHERE uid IS NOT NULL); "
        "INSERT INTO temp.people "
        "SELECT unit_key, digest, NOT regexp_matches(uid, '[0-9]'), "
        f"hash({folded_sql('uid', FOLDS)}), {each} FROM temp.fresh; "
        "INSERT INTO temp.forms SELECT unit_key, "
        f"CASE WHEN form = uid THEN digest ELSE {digest} END, place = 1 FROM ("
        "SELECT unit_key, uid, digest, unnest(forms) AS form, "
        "generate_subscripts(forms, 1) AS place FROM temp.fresh) WHERE form <> ''; "
        "INSERT INTO temp.forms SELECT unit_key, digest, true FROM temp.fresh "
        "WHERE forms[1] = ''; "
        f"INSERT INTO temp.numbers SELECT unit_key, hash({number_sql('uid')}) "
        "FROM temp.fresh WHERE regexp_matches(uid, '\\pL'); "
        "DROP TABLE temp.fresh"
    )
    connection.execute(
        "INSERT INTO temp.spelled "  # noqa: S608 - as above
        f"SELECT unit_key, {population_id_sql('plain_uid')} FROM "
        f"(SELECT DISTINCT unit_key, plain_uid FROM {ids} WHERE plain_uid <> uid)"
    )
    found = connection.execute(
        f"SELECT count(*) FROM {ids} WHERE uid IS NOT NULL"  # noqa: S608 - as above
    ).fetchone()
    return int(found[0]) if found else 0


def collect_source_ids(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Add the ids that the load's units have in the sources of a linkage.

    They are compared as the units' own are: by all their forms, and with everything
    that own ones are compared with. Which units are alike is told by unit keys alone.

    Args:
        connection: It has the load's units, and what ``collect_units`` needs.
        path: Parquet with the columns ``key`` and ``id``, both texts: a unit key, and
            an id of this patient. Keys that no row of the load has are left out.
    """
    told = f"read_parquet([{quoted(str(path))}])"
    keys = f"SELECT key, {unit_key_sql('key')} AS unit_key FROM (SELECT DISTINCT key FROM {told})"  # noqa: E501, S608 - our own names
    forms = forms_sql("id", "id_forms")
    connection.execute(
        f"CREATE TEMP TABLE fresh AS SELECT unit_key, id, {forms} AS forms FROM ("  # noqa: S608 - as above
        f"SELECT DISTINCT unit_key, id FROM {told} JOIN ({keys}) USING (key)) "
        "SEMI JOIN temp.people USING (unit_key); "
        f"INSERT INTO temp.forms SELECT unit_key, {population_id_sql('form')}, NULL "
        "FROM (SELECT unit_key, unnest(CASE WHEN forms[1] = '' THEN [id] ELSE forms "
        "END) AS form FROM temp.fresh); "
        f"INSERT INTO temp.numbers SELECT unit_key, hash({number_sql('id')}) "
        "FROM temp.fresh WHERE regexp_matches(id, '\\pL'); "
        "DROP TABLE temp.fresh"
    )


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

    By what of ``unit_fold`` they differ in, in any of it (``any``), and in what it
    cannot join (``other``): separators, signs, fractions that are 0.
    """
    columns = {fold: f"{fold}_loose" for fold in FOLDS} | {"any": "loose"}
    counts = {
        name: _count_alike(connection, column) for name, column in columns.items()
    }
    return counts | {"other": max(0, _count_same_form(connection) - counts["any"])}


def count_words(connection: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Return how many units have ids without a digit, and how many there are."""
    found = connection.execute(
        "SELECT count(*) FILTER (is_word), count(*) FROM "
        "(SELECT unit_key, bool_and(is_word) AS is_word FROM temp.people GROUP BY ALL)"
    ).fetchone()
    return (int(found[0]), int(found[1])) if found else (0, 0)


def _count_alike(connection: duckdb.DuckDBPyConnection, column: str) -> int:
    found = connection.execute(
        f"SELECT sum(n) FROM (SELECT count(DISTINCT unit_key) AS n FROM temp.people "  # noqa: S608 - our own names
        f"GROUP BY {column} HAVING count(DISTINCT unit_key) > 1)"
    ).fetchone()
    return int(found[0] or 0) if found else 0


def _count_same_form(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many units share a form that is some unit's id but for padding.

    ``1-23`` and ``12-3`` are alike only where there is an id ``123`` too. Ids of a
    linkage's sources are none of these: two sources may give one number to two people.
    """
    found = connection.execute(
        "SELECT count(DISTINCT unit_key) FROM "
        "(FROM temp.forms WHERE is_kept IS NOT NULL) SEMI JOIN ("
        "SELECT digest FROM temp.forms WHERE is_kept IS NOT NULL GROUP BY digest "
        "HAVING count(DISTINCT unit_key) > 1 AND bool_or(is_kept)) USING (digest)"
    ).fetchone()
    return int(found[0]) if found else 0


def population_digests(connection: duckdb.DuckDBPyConnection) -> bytes:
    """Return the population's sorted digests of 16 bytes.

    One a unit, and one more for each other form of its id, and for each other spelling
    that ``unit_fold`` joins; and one for each form of an id that a linkage's source has
    of it.
    """
    return digests_of(connection)


def digests_of(
    connection: duckdb.DuckDBPyConnection, of_units: str = "", apart: str = ""
) -> bytes:
    """Return the sorted digests of some units: ids, forms and spellings alike.

    Args:
        connection: It has the units.
        of_units: A join, by ``unit_key``, with those that are meant; else all are.
        apart: A join, by ``digest``, that leaves some digests out.
    """
    found = bytearray()
    rows = connection.execute(
        "SELECT digest FROM ("  # noqa: S608 - our own names
        "SELECT unit_key, digest FROM temp.people "
        "UNION ALL SELECT unit_key, digest FROM temp.forms "
        f"UNION ALL SELECT unit_key, digest FROM temp.spelled) {of_units} {apart} "
        "GROUP BY digest ORDER BY digest"
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
