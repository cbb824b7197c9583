"""Rows of Parquet files, streamed by DuckDB."""

from collections.abc import Iterator

import duckdb

from upstream.extraction.reading.families.rows import Row, value_of
from upstream.extraction.reading.folders import SourceFile
from upstream.extraction.reading.judging import too_long
from upstream.extraction.reading.outcomes import FlawError, Position, Reason
from upstream.extraction.reading.specs import ColumnFiles

_ROWS = 64  # fetched at once: each may be as long as a document
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "1GB",
}
_SPECIAL = frozenset("*?[]{}")  # what DuckDB takes for patterns


def parquet_rows(source: ColumnFiles, file: SourceFile, first: int) -> Iterator[Row]:
    """Yield a file's rows from that of a number (from 1) on.

    Raises:
        FlawError: It is no Parquet file with these columns, or breaks off.
    """
    if _SPECIAL & set(str(file.path)):
        raise FlawError(Reason.BAD_NAME, "its path has * ? [ ] { or }: rename it")
    with duckdb.connect(":memory:", config=_CONFIG) as connection:
        try:
            query = _query(source, file, connection)
            connection.execute(query, [str(file.path), first])
            while found := connection.fetchmany(_ROWS):
                yield from (_row(source, file, values) for values in found)
        except duckdb.Error:
            said = "is no Parquet file that can be read whole: export it again"
            raise FlawError(Reason.UNREADABLE, said) from None


def _query(
    source: ColumnFiles, file: SourceFile, connection: duckdb.DuckDBPyConnection
) -> str:
    described = connection.execute(
        "SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet([?]))",
        [str(file.path)],
    ).fetchall()
    types = {str(name): str(kind) for name, kind in described}
    missing = [name for name in source.columns if name not in types]
    if missing:
        said = f"the column {missing[0]!r} is not in the file"
        raise FlawError(Reason.BAD_STRUCTURE, said)
    columns = ", ".join(_column(source, name, types[name]) for name in source.columns)
    return (
        f"SELECT file_row_number + 1, {columns} "  # noqa: S608 -- names are quoted
        "FROM read_parquet([?], file_row_number = true) WHERE file_row_number + 1 >= ?"
    )


def _column(source: ColumnFiles, name: str, kind: str) -> str:
    """Return a column as SQL, and whether it is longer than DuckDB gives it out."""
    quoted = '"' + name.replace('"', '""') + '"'
    if kind == "BLOB":
        is_long = f"octet_length({quoted}) > {4 * source.max_characters + 4}"
    elif kind == "VARCHAR":
        is_long = f"length({quoted}) > {source.max_characters}"
    else:
        is_long = "false"
    return f"CASE WHEN {is_long} THEN NULL ELSE {quoted} END, {is_long}"


def _row(source: ColumnFiles, file: SourceFile, values: tuple[object, ...]) -> Row:
    most = source.max_characters
    number, *rest = values
    columns = {
        name: too_long(most) if is_long else value_of(value, source.encoding, most)
        for name, value, is_long in zip(
            source.columns, rest[::2], rest[1::2], strict=True
        )
    }
    return Row(Position(file.id, int(str(number)), 0, 0, file.state), columns)
