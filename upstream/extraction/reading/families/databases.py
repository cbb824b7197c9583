"""Columns of database tables, streamed and never written to."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from sqlite3 import Connection as SqliteConnection

from sqlalchemy import Connection, Engine, Executable, create_engine, inspect, text
from sqlalchemy import column as sql_column
from sqlalchemy import select as sql_select
from sqlalchemy import table as sql_table
from sqlalchemy.engine import URL, CursorResult, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from upstream.errors import IngestionError, Problem
from upstream.extraction.reading.families.rows import Row, documents_of, value_of
from upstream.extraction.reading.outcomes import Candidate, Position
from upstream.extraction.reading.specs import Database

_ROWS = 20  # fetched at once: each may hold several documents of the longest kind
_READ_ONLY = {
    "sqlite": "PRAGMA query_only = ON",
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
    "postgresql": "SET TRANSACTION READ ONLY",
    "oracle": "SET TRANSACTION READ ONLY",
}


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
    """Open a connection whose transaction may only read.

    Raises:
        IngestionError: There is none, or it breaks off. The driver's own words are
            left out: they may hold a password or a row.
    """
    url = _url(source, import_folder)
    try:
        engine = create_engine(url, poolclass=NullPool)
    except (ImportError, SQLAlchemyError) as error:
        said = f"needs a database driver that is not installed ({url.drivername})"
        raise _refused(source, said) from error
    try:
        with engine.connect() as connection:
            _only_read(connection)
            yield connection
    except SQLAlchemyError as error:
        said = _absent(source, engine) or (
            f"the database or its statement failed ({type(error).__name__}): look at "
            "its log; reading can go on where it stopped"
        )
        raise _refused(source, said) from error
    finally:
        engine.dispose()


def _absent(source: Database, engine: Engine) -> str | None:
    """Return which table or column is not there; None: it may be something else.

    Asked once a statement failed: databases fold names in ways of their own.
    """
    if source.table is None:
        return None
    schema = source.table_schema
    try:
        held = inspect(engine)
        if not held.has_table(source.table, schema=schema):
            known = [*held.get_table_names(schema), *held.get_view_names(schema)]
            return _no("table", source.table, known)
        columns = [one["name"] for one in held.get_columns(source.table, schema)]
    except SQLAlchemyError:
        return None
    missing = next((one for one in source.columns if one not in columns), None)
    return None if missing is None else _no("column", missing, columns)


def _no(what: str, name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"there is no {what} {name!r}" + (
        f": did you mean {near[0]!r}?" if near else ""
    )


def _url(source: Database, import_folder: Path) -> URL:
    written = source.url
    if source.url_variable is not None:
        written = os.environ.get(source.url_variable)
    if not written:
        raise _refused(source, f"set the variable {source.url_variable}")
    try:
        url = make_url(written)
    except (ArgumentError, ValueError) as error:
        raise _refused(source, "its URL is none that SQLAlchemy reads") from error
    if url.get_backend_name() != "sqlite":
        return url
    return _sqlite_url(source, url, import_folder)


def _sqlite_url(source: Database, url: URL, import_folder: Path) -> URL:
    """Return the URL of a file inside the import folder, opened to be read only."""
    root = import_folder.resolve()
    path = (root / (url.database or "")).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        said = "the SQLite file must be a file inside the import folder"
        raise _refused(source, said)
    query = {"mode": "ro", "uri": "true"}
    return url.set(database=path.as_uri().replace("file://", "file:", 1), query=query)


def _only_read(connection: Connection) -> None:
    statement = _READ_ONLY.get(connection.dialect.name)
    if statement is not None:
        connection.exec_driver_sql(statement)
    driver: object = connection.connection.dbapi_connection
    if isinstance(driver, SqliteConnection):
        # A bad text is one bad document, not the end of the statement.
        driver.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")


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
        raise _refused(source, said)
    return {name: names.index(name) for name in source.columns}


def _refused(source: Database, sentence: str) -> IngestionError:
    return IngestionError((Problem(source.name, None, None, sentence),))
