"""Which stored columns are read as values of each row, for rendering and cost alike."""

from privacy.schema import Column, ColumnType, Table


def made_for_each(table: Table, column: Column) -> bool:
    """Whether a scan makes a column's values anew for each row.

    DuckDB 2.0.0 stores equal numbers (dates, truths, NULLs) once for thousands of rows
    and works on them once: one unit's row would begin work on all others. Texts are
    stored for each row (``upstream.ingestion.ingestion.STORED_PLAIN``), and public rows
    are the same for every unit.
    """
    return not table.is_public and column.type is not ColumnType.TEXT
