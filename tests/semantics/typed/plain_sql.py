"""The demo hospital's rows twice: as files say, and as an engine stores them.

What a text means to plain DuckDB over the files is held against what its plan finds.
"""

from contextlib import contextmanager
from decimal import Decimal

import duckdb

from engines.duckdb.snapshots import BLIND, new_hash_key, set_hash_key
from privacy.schema import ColumnType, ValuesDomain
from query_lang.showing.presentation import present
from server.demo.hospital import write_hospital
from tests.golden.reference_pages import hospital
from tests.semantics.engine import STORED, exact_vectors
from tests.support.compiling import compile_query

PATIENTS = 400


EDGES = (
    "SELECT setseed(0.41)",
    "UPDATE plain.encounters SET discharged_to = NULL WHERE random() < 0.2",
    "UPDATE plain.encounters SET department = 'other' WHERE random() < 0.1",
    """UPDATE plain.encounters SET age = [0, 18, 60, 120][1 + (random() * 4)::int % 4]
    WHERE random() < 0.2""",
    """UPDATE plain.encounters SET admitted = DATE '2024-02-29', year = 2024
    WHERE random() < 0.05""",
    """UPDATE plain.encounters SET admitted = DATE '2025-12-31', year = 2025
    WHERE random() < 0.05""",
    """INSERT INTO plain.encounters SELECT e.* REPLACE (900000 + n AS encounter_id)
    FROM (SELECT * FROM plain.encounters ORDER BY patient_id, encounter_id LIMIT 1) e,
    range(20 - (SELECT COUNT(*) FROM plain.encounters WHERE patient_id =
    (SELECT MIN(patient_id) FROM plain.encounters))) AS r(n)""",
)
"""NULLs, ends of declared ranges, and a patient with as many stays as any may have."""


@contextmanager
def both(folder, *, edges=False):
    """Yield a database of plain tables, in schema plain, beside those of an engine.

    Args:
        folder: For the files.
        edges: Whether rows are changed to what seldom occurs.
    """
    write_hospital(folder, PATIENTS)
    with duckdb.connect(":memory:", config={"threads": 1, **BLIND}) as connection:
        set_hash_key(connection, new_hash_key())
        connection.execute("CREATE SCHEMA plain")
        for table in hospital().tables.values():
            _read(connection, folder, table)
        for change in EDGES if edges else ():
            connection.execute(change)
        for table in hospital().tables.values():
            _store(connection, table)
        yield connection


def _read(connection, folder, table):
    name = table.name
    files = f"read_csv('{folder}/{name}.csv', header = true, nullstr = '')"
    if name == "prescriptions":
        files = f"'{folder}/{name}.parquet'"
    connection.execute(f"CREATE TABLE plain.{name} AS SELECT * FROM {files}")
    for column in table.columns:
        if isinstance(column.domain, ValuesDomain):
            listed = ", ".join(f"'{v}'" for v in column.domain.all_values())
            rest = "'other'" if "other" in column.domain.all_values() else "NULL"
            connection.execute(
                f'UPDATE plain.{name} SET "{column.name}" = {rest} '
                f'WHERE "{column.name}" NOT IN ({listed})'
            )


def _store(connection, table):
    columns = [c for c in table.columns if c.name != table.unit_column]
    shown = ", ".join(map(_stored, columns))
    connection.execute(
        f'CREATE TABLE "{table.name}" AS SELECT unit_key, row_hash, '
        "CAST(row_number() OVER (PARTITION BY unit_key ORDER BY row_hash) AS INTEGER) "
        f"AS row_rank, * EXCLUDE (unit_key, row_hash) FROM (SELECT "
        f"CAST(hash({table.unit_column}) % 9223372036854775807 AS BIGINT) AS unit_key, "
        "CAST(hash(row_number() OVER ()) % 9223372036854775807 AS BIGINT) AS row_hash, "
        f"{shown} FROM plain.{table.name})"
    )


def _stored(column):
    if column.type is ColumnType.DECIMAL:
        steps = f'CAST(round("{column.name}" * {10**column.scale}) AS BIGINT)'
        return f'{steps} AS "{column.name}"'
    return f'CAST("{column.name}" AS {STORED[column.type]}) AS "{column.name}"'


def ours(connection, sql):
    """Return the compiled text and its exact rows."""
    compiled = compile_query(sql, hospital())
    return compiled, present(compiled, exact_vectors(connection, compiled.rendered))


def plain(connection, sql):
    """Return the rows of a text over the files."""
    connection.execute("USE plain")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.execute("USE memory.main")


def as_found(row, columns):
    """Return a row's keys, and its numbers rounded to what both can show."""
    keys = tuple(
        str(value)
        for value, column in zip(row, columns, strict=True)
        if column.kind == "group"
    )
    numbers = tuple(
        None if value is None else round(Decimal(str(value)), 3)
        for value, column in zip(row, columns, strict=True)
        if column.kind != "group"
    )
    return keys, numbers
