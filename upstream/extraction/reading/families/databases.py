"""Columns of database tables, streamed and never written to."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from sqlite3 import Connection as SqliteConnection

from sqlalchemy import Connection, Executable, text
from sqlalchemy import column as sql_column
from sqlalchemy import select as sql_select
from sqlalchemy import table as sql_table
from sqlalchemy.engine import CursorResult

from upstream.extraction.reading.families.rows import Row, documents_of, value_of
from upstream.extraction.reading.outcomes import Candidate, Position
from upstream.extraction.reading.specs import Database
from upstream.files.exports.databases import connected, database_refused

_ROWS = 20  # fetched at once: each may hold several documents of the longest kind


def read_database(
    source: Database, import_folder: Path, after: Position | None
) -> Iterator[Candidate]:
    """Yield one candidate for each row and text column; as ``read_documents``."""
    begun = after or Position()
    name = source.table or "select"
    with _connected(source, import_folder) as connection:
        for row in _rows(source, connection, max(begun.record, 1)):
            for found in documents_of(source, name, row):
                at = found.position
                if (at.record, at.part) > (begun.record, begun.part):
                    yield found


@contextmanager
def _connected(source: Database, import_folder: Path) -> Iterator[Connection]:
    remedy = "; reading can go on where it stopped"
    with connected(source, import_folder, remedy) as connection:
        driver: object = connection.connection.dbapi_connection
        if isinstance(driver, SqliteConnection):
            # A bad text is one bad document, not the end of the statement.
            driver.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        yield connection


def _rows(source: Database, connection: Connection, first: int) -> Iterator[Row]:
    options = {"stream_results": True, "max_row_buffer": _ROWS}
    statement, skipped = _statement(source, first)
    result = connection.execution_options(**options).execute(statement)
    columns = _places(source, result)
    rows = islice(result.yield_per(_ROWS), first - 1 - skipped, None)
    for number, row in enumerate(rows, first):
        values = {
            name: value_of(row[at], None, source.max_characters)
            for name, at in columns.items()
        }
        yield Row(Position("", number), values)


def _statement(source: Database, first: int) -> tuple[Executable, int]:
    """Return the statement, and how many rows the database passes over itself."""
    if source.select is not None:
        return text(source.select.replace(":", r"\:")), 0
    table = sql_table(
        str(source.table),
        *(sql_column(name) for name in source.columns),
        schema=source.table_schema,
    )
    order = [table.c[name] for name in source.id]
    return sql_select(*table.c).order_by(*order).offset(first - 1), first - 1


def _places(source: Database, result: CursorResult[object]) -> dict[str, int]:
    names: Sequence[str] = list(result.keys())
    missing = [name for name in source.columns if names.count(name) != 1]
    if missing:
        said = f"the statement must give the column {missing[0]!r} once"
        raise database_refused(source, said)
    return {name: names.index(name) for name in source.columns}
