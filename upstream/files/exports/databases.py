"""A custodian's database: opened to be read only, never written to.

Whoever reads it opens it here: loads read tables, notes and their ids too
(``upstream.extraction.reading.families.databases``).
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Protocol

from sqlalchemy import Connection, Engine, create_engine, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from upstream.errors import IngestionError, Problem

_READ_ONLY = {
    "sqlite": "PRAGMA query_only = ON",
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
    "postgresql": "SET TRANSACTION READ ONLY",
    "oracle": "SET TRANSACTION READ ONLY",
}
_ONE_STATE = {
    "mysql": "REPEATABLE READ",
    "mariadb": "REPEATABLE READ",
    "postgresql": "REPEATABLE READ",
}
"""Isolation in which all statements of a transaction see one state."""

_FORMS = {"postgresql": ("SET TIME ZONE 'UTC'", "SET DateStyle TO ISO")}
"""What settles how times are given, whatever a server, database or role is set to."""


class DatabaseSource(Protocol):
    """What is read of a database, as it is declared."""

    @property
    def name(self) -> str:
        """Names the source in refusals."""
        ...

    @property
    def url(self) -> str | None:
        """SQLAlchemy's URL, without a password."""
        ...

    @property
    def url_variable(self) -> str | None:
        """The environment variable that holds the URL."""
        ...

    @property
    def table(self) -> str | None:
        """The table; None: a statement of the custodian's own."""
        ...

    @property
    def table_schema(self) -> str | None:
        """Where the table lies, if not in the default schema."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        ...


def database_refused(source: DatabaseSource, sentence: str) -> IngestionError:
    """Return the refusal of a source, for one thing."""
    return IngestionError((Problem(source.name, None, None, sentence),))


@contextmanager
def connected(
    source: DatabaseSource, import_folder: Path, remedy: str = ""
) -> Iterator[Connection]:
    """Open a connection whose transaction may only read, and sees one state.

    Args:
        source: What is read.
        import_folder: A SQLite file lies in it.
        remedy: What to do where a statement fails.

    Raises:
        IngestionError: There is none, or it breaks off. The driver's own words are
            left out: they may hold a password or a row.
    """
    url = database_url(source, import_folder)
    try:
        engine = create_engine(url, poolclass=NullPool)
    except (ImportError, SQLAlchemyError) as error:
        said = f"needs a database driver that is not installed ({url.drivername})"
        raise database_refused(source, said) from error
    try:
        with engine.connect() as connection:
            _only_read(connection)
            yield connection
    except SQLAlchemyError as error:
        said = _absent(source, engine) or (
            f"the database or its statement failed ({type(error).__name__}): look at "
            f"its log{remedy}"
        )
        raise database_refused(source, said) from error
    finally:
        engine.dispose()


def _only_read(connection: Connection) -> None:
    name = connection.dialect.name
    if name in _ONE_STATE:
        connection.execution_options(isolation_level=_ONE_STATE[name])
    if name in _READ_ONLY:
        connection.exec_driver_sql(_READ_ONLY[name])
    for statement in _FORMS.get(name, ()):
        connection.exec_driver_sql(statement)
    if name == "sqlite":
        connection.exec_driver_sql("BEGIN")


def _absent(source: DatabaseSource, engine: Engine) -> str | None:
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


def database_url(source: DatabaseSource, import_folder: Path) -> URL:
    """Return the URL of a source's database.

    Raises:
        IngestionError: Its variable is not set, or holds no URL; or a SQLite file lies
            elsewhere.
    """
    url = _declared_url(source)
    if url.get_backend_name() != "sqlite":
        return url
    return _sqlite_url(source, url, import_folder)


def _declared_url(source: DatabaseSource) -> URL:
    written = source.url
    if source.url_variable is not None:
        written = os.environ.get(source.url_variable)
    if not written:
        raise database_refused(source, f"set the variable {source.url_variable}")
    try:
        return make_url(written)
    except (ArgumentError, ValueError) as error:
        said = "its URL is none that SQLAlchemy reads"
        raise database_refused(source, said) from error


def names_of_database(source: DatabaseSource, import_folder: Path) -> tuple[str, ...]:
    """Return the names by which a database was chosen.

    As a file's name they can be a patient's: a database, or a schema, for each.

    Raises:
        IngestionError: Its URL cannot be read.
    """
    url, root = _declared_url(source), import_folder.resolve()
    paths = [PurePath(url.database or "")]
    if url.get_backend_name() == "sqlite":
        real = (root / paths[0]).resolve()
        paths.append(real.relative_to(root) if real.is_relative_to(root) else real)
    found = [source.url_variable, url.host, url.username]
    for value in url.query.values():  # of drivers that name it there
        words = (value,) if isinstance(value, str) else value
        found += [part for word in words for part in re.split(r"[=;,]", word)]
    for path in paths:
        found += [*path.parts, path.stem]
    return tuple(dict.fromkeys(name for name in found if name))


def _sqlite_url(source: DatabaseSource, url: URL, import_folder: Path) -> URL:
    """Return the URL of a file inside the import folder, opened to be read only."""
    root = import_folder.resolve()
    path = (root / (url.database or "")).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        said = "the SQLite file must be a file inside the import folder"
        raise database_refused(source, said)
    query = {"mode": "ro", "uri": "true"}
    return url.set(database=path.as_uri().replace("file://", "file:", 1), query=query)
