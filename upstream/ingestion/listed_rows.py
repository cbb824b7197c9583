"""The rows of a public table that are shown with the schema."""

import json
from decimal import Decimal

import duckdb

from privacy.schema import (
    MOST_LISTED_BYTES,
    MOST_LISTED_ROWS,
    Column,
    ColumnType,
    ListedRow,
    Scalar,
    Table,
)
from privacy.schema_json import rows_to_json
from privacy.wording import counted
from upstream.errors import IngestionError, Problem
from upstream.files.reading_sql import quoted_name


def listed_rows(
    connection: duckdb.DuckDBPyConnection, table: Table
) -> tuple[ListedRow, ...]:
    """Return the rows of a stored public table, in its order.

    Args:
        connection: Where the snapshot is attached as ``snapshot``.
        table: What is declared of it.

    Raises:
        IngestionError: They are too many or too long to stand in a schema.
    """
    names = ", ".join(quoted_name(column.name) for column in table.columns)
    found = connection.execute(
        f"SELECT {names} FROM snapshot.{quoted_name(table.name)} "  # noqa: S608 - declared names
        f"ORDER BY _row LIMIT {MOST_LISTED_ROWS + 1}"
    ).fetchall()
    rows = tuple(
        tuple(_value(value, c) for value, c in zip(row, table.columns, strict=True))
        for row in found
    )
    size = len(json.dumps(rows_to_json(rows)))
    if len(rows) > MOST_LISTED_ROWS or size > MOST_LISTED_BYTES:
        sentence = (
            f"table {table.name} is listed, and has more than "
            f"{counted(MOST_LISTED_ROWS, 'row')} or {MOST_LISTED_BYTES:,} bytes: "
            "remove listed: true, and declare a domain for each column that questions "
            "group by"
        )
        raise IngestionError((Problem("manifest", None, None, sentence),))
    return rows


def _value(value: Scalar | None, column: Column) -> Scalar | None:
    """Return a stored value; a decimal is stored as units of its last place."""
    if column.type is ColumnType.DECIMAL and isinstance(value, int):
        return Decimal(value).scaleb(-column.scale)
    return value
