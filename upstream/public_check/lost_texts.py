"""What the files of a public table hold and the stored table does not.

Columns that the manifest leaves out, values that no domain keeps, and how files write
days and decimals, which are stored in one form: ``2019.0011`` and ``20190111`` are ids
of cases too. A table with a row for each patient tells of single patients whichever
columns are published, so all its columns are compared with unit ids. Nothing of this is
stored.
"""

from upstream.public_check.published_ids import Published, Texts
from upstream.staging.file_columns import FileColumn, file_columns
from upstream.staging.staged_files import files_sql, parquet_in
from upstream.staging.staging import StagedTable


def lost_texts(staged: StagedTable, coinciding: frozenset[str]) -> Published:
    """Return the texts of a public table's files that it does not store.

    Args:
        staged: The table's rows, before they are discarded.
        coinciding: Places whose numbers were declared to be no unit ids.
    """
    looked_at = []
    if paths := parquet_in(staged.folder):
        columns = file_columns(staged.table, staged.files)
        for index, column in enumerate(columns):
            rows = f"SELECT w{index} AS t FROM {files_sql(paths)}"  # noqa: S608 - our own names
            looked_at.append(_column(staged, column, rows, coinciding))
            if column.is_written_anew_in(staged.table):
                rows = f"SELECT k{index} AS t FROM {files_sql(paths)}"  # noqa: S608 - as above
                looked_at.append(_kept(staged, column, rows, coinciding))
    return tuple(looked_at)


def _column(
    staged: StagedTable, column: FileColumn, rows: str, coinciding: frozenset[str]
) -> Texts:
    table = staged.table
    if not column.declared:
        place = f"the column {column.name!r} in the files of {table.name}"
        return Texts(place, rows, column=column.name)
    names = _names(staged, column)
    place = f"what the files have in place of {names[0]}"
    return Texts(place, rows, coinciding.issuperset(names), column=column.name)


def _kept(
    staged: StagedTable, column: FileColumn, rows: str, coinciding: frozenset[str]
) -> Texts:
    """Return what the files write for days and decimals that are stored."""
    names = _names(staged, column)
    place = f"what the files write for {names[0]}"
    is_exempt = coinciding.issuperset(names)
    return Texts(
        place, rows, is_exempt, is_free=False, column=column.name, is_exact=True
    )


def _names(staged: StagedTable, column: FileColumn) -> list[str]:
    table = staged.table
    return [f"{table.name}.{table.columns[i].name}" for i in column.declared]
