"""A small public schema, its stored layout in DuckDB, and a way to run plans on it."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal

import duckdb

from engines.duckdb.filling import fill
from engines.duckdb.snapshots import new_hash_key, set_hash_key
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    RangeDomain,
    Table,
    ValuesDomain,
)
from query_lang.plans.rendered import RenderedPlan

T = ColumnType
ENCOUNTERS = Table(
    "encounters",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("age", T.INTEGER, domain=RangeDomain(0, 120)),
        Column("visits", T.INTEGER),
        Column(
            "sex",
            T.TEXT,
            nullable=False,
            constant_in_unit=True,
            domain=ValuesDomain(("f", "m"), other=True),
        ),
        Column("ward", T.TEXT, domain=ValuesDomain(("north", "south"))),
        Column("code", T.TEXT),
        Column("level", T.INTEGER, nullable=False, domain=RangeDomain(1, 3)),
        Column("stay", T.DECIMAL, scale=1),
        Column("cost", T.DECIMAL, scale=2),
        Column(
            "dose",
            T.DECIMAL,
            scale=1,
            nullable=False,
            domain=ValuesDomain((Decimal("0.5"), Decimal("1.5"))),
        ),
        Column(
            "admitted",
            T.DATE,
            domain=RangeDomain(date(2024, 1, 30), date(2024, 2, 1)),
        ),
        Column("discharged", T.DATE),
        Column("seen", T.TIMESTAMP),
        Column("smoker", T.BOOLEAN),
        Column("urgent", T.BOOLEAN, nullable=False),
    ),
    unit_column="patient_id",
    max_rows_per_unit=4,
)
PATIENTS = Table(
    "patients",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("sex", T.TEXT, nullable=False, domain=ValuesDomain(("f", "m"))),
        Column("region", T.TEXT, domain=ValuesDomain(("east", "west"))),
    ),
    unit_column="patient_id",
    max_rows_per_unit=1,
)
WARDS = Table("wards", (Column("ward", T.TEXT, nullable=False),))
HOSPITAL = Dataset(
    "hospital",
    "hospital_patients",
    "patient",
    date(2024, 12, 31),
    {table.name: table for table in (ENCOUNTERS, PATIENTS, WARDS)},
)

_STORED = {
    T.INTEGER: "BIGINT",
    T.DECIMAL: "BIGINT",
    T.DATE: "DATE",
    T.TIMESTAMP: "TIMESTAMP",
    T.TEXT: "VARCHAR",
    T.BOOLEAN: "BOOLEAN",
}
Row = Mapping[str, object]


def stored_columns(table):
    """Return the declared columns that a snapshot stores under their own names."""
    return [column for column in table.columns if column.name != table.unit_column]


def create_table(connection, table, rows: Iterable[Row]):
    """Fill a table in the stored layout; a row has unit, row_hash and row_rank too."""
    columns = stored_columns(table)
    declared = [f'"{c.name}" {_STORED[c.type]}' for c in columns]
    head = ["unit_key BIGINT", "row_hash BIGINT", "row_rank INTEGER"]
    connection.execute(
        f'CREATE OR REPLACE TABLE "{table.name}" ({", ".join(head + declared)})'
    )
    values = [
        (
            row["unit"],
            row["row_hash"],
            row["row_rank"],
            *(_stored(row.get(c.name), c) for c in columns),
        )
        for row in rows
    ]
    if not values:
        return
    marks = f"({', '.join('?' for _ in values[0])})"
    connection.execute(
        f'INSERT INTO "{table.name}" VALUES {", ".join(marks for _ in values)}',
        [value for row in values for value in row],
    )


def _stored(value, column):
    if value is None or column.type is not T.DECIMAL:
        return value
    scaled = Decimal(value).scaleb(column.scale)
    assert scaled == int(scaled)
    return int(scaled)


def run(connection, rendered: RenderedPlan):
    """Return the exact vectors of a plan, one tuple a measure, as the engine fills."""
    filled: dict[int, list[int]] = {}
    for statement in rendered.statements:
        found = connection.execute(statement.sql, list(statement.parameters))
        fill(filled, statement, found.fetchall())
    return tuple(tuple(filled[vector]) for vector in range(rendered.vector_count))


def ranked(rows: Iterable[Row]):
    """Give each row its rank within its unit by row_hash, as ingestion does."""
    seen: dict[object, int] = {}
    result = []
    for row in sorted(rows, key=lambda r: (r["unit"], r["row_hash"])):
        seen[row["unit"]] = seen.get(row["unit"], 0) + 1
        result.append({**row, "row_rank": seen[row["unit"]]})
    return result


def connect():
    """Return an empty database in memory."""
    connection = duckdb.connect(":memory:")
    set_hash_key(connection, new_hash_key())
    return connection


def sample_rows():
    """Return a few fixed rows with NULLs, edges and text outside ASCII."""
    base = {
        "age": 61,
        "visits": 2,
        "sex": "f",
        "ward": "north",
        "code": "E11",
        "level": 1,
        "stay": Decimal("2.5"),
        "cost": Decimal("10.25"),
        "dose": Decimal("0.5"),
        "admitted": date(2024, 1, 30),
        "discharged": date(2024, 2, 1),
        "seen": datetime(2024, 1, 30, 8, 30),  # noqa: DTZ001 - stored without zone
        "smoker": True,
        "urgent": False,
    }
    return ranked(
        [
            {**base, "unit": 7, "row_hash": -5},
            {**base, "unit": 7, "row_hash": 3, "ward": "south", "age": 30},
            {**base, "unit": 7, "row_hash": 9, "ward": None, "cost": None},
            {**base, "unit": 8, "row_hash": 1, "sex": "m", "age": None, "level": 3},
            {**base, "unit": 8, "row_hash": 2, "sex": "m", "code": "é", "level": 2},
            {**base, "unit": 9, "row_hash": 4, "sex": "other", "smoker": None},
        ]
    )
