"""Files without the unit whose rows another file joins to single units, for a draft."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from upstream.public_check.row_evidence import CODE, Group, identifying
from upstream.public_check.row_values import (
    are_namesakes,
    is_id_sql,
    uses_of,
    values_sql,
)


@dataclass(frozen=True, slots=True)
class JoinColumn:
    """A column of a file that may join its rows to another file's.

    Attributes:
        table: What the file's table is called.
        file: The file's name.
        unit: What the file calls the unit; None: it has none.
        name: The column's name.
        rows: The query of it: ``unit_key``, any text, and the value as text, ``t``.
    """

    table: str
    file: str
    unit: str | None
    name: str
    rows: str


def join_to_units(
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[JoinColumn],
    others: Sequence[JoinColumn],
) -> tuple[JoinColumn, JoinColumn] | None:
    """Return the first column whose values are of one unit each, and where they are.

    Args:
        connection: Where they are compared.
        columns: Those of a file without the unit.
        others: Those of files that have it.
    """
    for column in columns:
        for other in others:
            if are_namesakes(column.name, other.name, other.table) and _joins(
                connection, column, other
            ):
                return column, other
    return None


def _joins(
    connection: duckdb.DuckDBPyConnection, column: JoinColumn, other: JoinColumn
) -> bool:
    forms = f"SELECT form FROM ({values_sql(other.rows)})"  # noqa: S608 - our own queries
    cells, found = connection.execute(
        "SELECT count(DISTINCT form), "  # noqa: S608 - as above
        f"count(DISTINCT form) FILTER (form IN ({forms})) "
        f"FROM ({values_sql(column.rows)}) WHERE {is_id_sql('form')}"
    ).fetchone() or (0, 0)
    uses = uses_of(connection, other.rows)
    group = Group(within=False, length=CODE, cells=cells, found=found)
    return bool(found and identifying([group], uses, namesakes=True))
