"""From staged rows to a stored public table: as it is, in source order."""

import duckdb

from upstream.errors import IngestionError, Problem
from upstream.reading_sql import STORED_TYPES
from upstream.report import TableReport
from upstream.staging import StagedTable


def store_public_table(
    connection: duckdb.DuckDBPyConnection, staged: StagedTable
) -> TableReport:
    """Create and fill the stored table and return its report.

    Raises:
        IngestionError: Two rows share the key that the table declares.
    """
    table = staged.table
    declared = ", ".join(
        f'"{name}" {STORED_TYPES[table.columns[i].type]}' for i, name in staged.stored()
    )
    values = ", ".join(f"v{i}" for i, _ in staged.stored())
    connection.execute(f'CREATE TABLE snapshot."{table.name}" ({declared})')
    connection.execute(
        f'INSERT INTO snapshot."{table.name}" '  # noqa: S608 - our own names
        f"SELECT {values} FROM {staged.relation} ORDER BY position"
    )
    connection.execute(f"DROP TABLE {staged.relation}")
    _verify_key(connection, staged)
    return TableReport(
        name=table.name,
        rows_read=staged.rows_read,
        rows_kept=staged.rows_read,
        units=0,
        dropped_null_unit=0,
        deduplicated=0,
        dropped_over_bound=0,
        constants_replaced=0,
        columns=staged.columns,
    )


def _verify_key(connection: duckdb.DuckDBPyConnection, staged: StagedTable) -> None:
    if not staged.table.key:
        return
    name = staged.table.name
    key = ", ".join(f'"{column}"' for column in staged.table.key)
    twins = connection.execute(
        f'SELECT 1 FROM snapshot."{name}" GROUP BY {key} HAVING count(*) > 1 LIMIT 1'  # noqa: S608 - our own names
    ).fetchone()
    if twins is not None:
        sentence = f"two rows of {name} share its key: mend them or declare no key"
        raise IngestionError((Problem(name, None, None, sentence),))
