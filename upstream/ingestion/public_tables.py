"""From staged rows to a stored public table: as it is, in source order.

Its first column, ``_row``, numbers the rows from 1 in source order (files in the order
of their paths). What is declared of it is verified. A row with a NULL in a key, or in
the columns of a fan-out, joins nothing by them, so it breaks neither: two such rows
are no duplicates.
"""

from upstream.errors import IngestionError, Problem
from upstream.files.csv_structure import CsvFile, csv_records_at
from upstream.files.reading_sql import STORED_TYPES
from upstream.files.sources import SourceFile, rows_of
from upstream.manifests.declarations import FanOutSpec
from upstream.progress import ProgressStep
from upstream.staging.report import TableReport
from upstream.staging.staged_files import files_sql, parquet_in
from upstream.staging.staging import StagedTable, StagingArea


def store_public_table(area: StagingArea, staged: StagedTable) -> TableReport:
    """Create and fill the stored table and return its report.

    Raises:
        IngestionError: Rows share the key that the table declares, or more rows share
            values than its fan-out allows.
    """
    table, rows = staged.table, staged.rows_read
    area.progress(ProgressStep("write", table.name, 0, max(1, rows), "rows"))
    declared = ", ".join(
        f'"{name}" {STORED_TYPES[table.columns[i].type]}' for i, name in staged.stored()
    )
    values = ", ".join(f"v{i}" for i, _ in staged.stored())
    area.connection.execute(
        f'CREATE TABLE snapshot."{table.name}" (_row BIGINT NOT NULL, {declared})'
    )
    if paths := parquet_in(staged.folder):
        area.connection.execute(
            f'INSERT INTO snapshot."{table.name}" '  # noqa: S608 - our own names
            f"SELECT position, {values} FROM {files_sql(paths)} ORDER BY position"
        )
    _verify(area, staged)
    area.progress(ProgressStep("write", table.name, max(1, rows), max(1, rows), "rows"))
    return TableReport(
        name=table.name,
        rows_read=rows,
        rows_kept=rows,
        units=0,
        dropped_null_unit=0,
        deduplicated=0,
        dropped_over_bound=0,
        constants_replaced=0,
        columns=staged.columns,
    )


def _verify(area: StagingArea, staged: StagedTable) -> None:
    table = staged.table
    promises = [FanOutSpec(columns=table.key, max=1)] if table.key else []
    problems = []
    for promise in (*promises, *table.fan_out):
        row = _first_beyond(area, staged, promise)
        if row is not None:
            problems.append(_problem(area, staged, row, promise))
    if problems:
        raise IngestionError(tuple(problems))


def _first_beyond(
    area: StagingArea, staged: StagedTable, promise: FanOutSpec
) -> int | None:
    """Return the first row by which more than ``max`` share the columns' values."""
    quoted = [f'"{column}"' for column in promise.columns]
    known = " AND ".join(f"{column} IS NOT NULL" for column in quoted)
    listed, name = ", ".join(quoted), f'snapshot."{staged.table.name}"'
    crowded = (
        f"SELECT {listed} FROM {name} WHERE {known} "  # noqa: S608 - our own names
        f"GROUP BY {listed} HAVING count(*) > {promise.max}"
    )
    found = area.connection.execute(
        "SELECT min(_row) FROM (SELECT _row, row_number() OVER ("  # noqa: S608 - as above
        f"PARTITION BY {listed} ORDER BY _row) AS turn "
        f"FROM {name} SEMI JOIN ({crowded}) USING ({listed})) "
        f"WHERE turn > {promise.max}"
    ).fetchone()
    return None if found is None else found[0]


def _problem(
    area: StagingArea, staged: StagedTable, row: int, promise: FanOutSpec
) -> Problem:
    """Say which row breaks a promise, without its values."""
    name, table = ", ".join(promise.columns), staged.table.name
    if promise.max == 1 and promise.columns == staged.table.key:
        sentence = (
            f"an earlier row of {table} has the same key ({name}): mend the file, or "
            "declare no key"
        )
    else:
        sentence = (
            f"{promise.max} earlier rows of {table} have the same {name}: mend the "
            "file, or raise the fan_out's max"
        )
    file, number = _place(area, staged, row)
    if isinstance(file, CsvFile):
        ((line, _),) = csv_records_at(file, [number])
        return Problem(file.name, line, None, sentence)
    return Problem(file.name, None, None, f"row {number}: {sentence}")


def _place(area: StagingArea, staged: StagedTable, row: int) -> tuple[SourceFile, int]:
    """Return the file of a table's row, and its number from 1 therein."""
    for file in staged.files[:-1]:
        rows = rows_of(file, area.connection)
        if row <= rows:
            return file, row
        row -= rows
    return staged.files[-1], row
