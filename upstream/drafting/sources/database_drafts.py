"""Tables and views of a database, looked at for a draft as a load would read them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from sqlalchemy import Connection, inspect
from sqlalchemy import column as sql_column
from sqlalchemy import select as sql_select
from sqlalchemy import table as sql_table
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from upstream.drafting.sources.draft_sources import SAMPLED, DraftSource, SourceReader
from upstream.drafting.sources.file_samples import Look
from upstream.errors import IngestionError, Problem
from upstream.files.exports.database_tables import (
    DeclaredTable,
    padded_columns,
    value_text,
    without_padding,
)
from upstream.files.exports.databases import connected, database_refused
from upstream.files.records import Record
from upstream.manifests.file_specs import DatabaseSpec

_NAME = "the database"
_VARIABLE = "HIS_URL"
"""The variable that a draft proposes for a URL that holds a password."""

_HIDDEN = (
    f"the URL has a password or options: set {_VARIABLE} to it, in the environment of "
    "whatever loads"
)
_NO_URL = "is no URL of a database: write sqlite:///his.db, or dialect+driver://user@host/name"
_NO_TEXT = "has bytes, lists or the like, which are not read: read a view with texts"


@dataclass(frozen=True, slots=True)
class DraftDatabase:
    """A database whose tables are drafted.

    Attributes:
        url: SQLAlchemy's URL, or None where a variable holds it.
        url_variable: The environment variable that holds it, or None.
        tables: The tables and views that are wanted, ``schema.table`` of others than
            the default schema; none: all of the default schema.
    """

    url: str | None = None
    url_variable: str | None = None
    tables: tuple[str, ...] = ()


def is_database(text: str) -> bool:
    """Return whether a text is a URL rather than a path.

    >>> is_database("sqlite:///his.db"), is_database("his/stays.csv")
    (True, False)
    """
    return "://" in text


def database_sources(
    reader: SourceReader, database: DraftDatabase
) -> Iterator[DraftSource]:
    """Yield the tables and views of a database, as far as they are looked at.

    Raises:
        IngestionError: It cannot be read, or has no such table. Nothing of its URL is
            quoted.
    """
    spec, source, folder = _place(database)
    with connected(source, folder) as connection:
        for schema, table in _chosen(connection, database.tables):
            whole = replace(source, name=f"{_NAME}'s {table}", table=table)
            one = replace(whole, table_schema=schema)
            update = {"table": table, "table_schema": schema}
            yield _looked_at(reader, connection, one, spec.model_copy(update=update))


def _place(database: DraftDatabase) -> tuple[DatabaseSpec, DeclaredTable, Path]:
    """Return what a manifest says of a database, what is read, and its folder."""
    source = DeclaredTable(_NAME, database.url, database.url_variable, None, None, ())
    if database.url is None:
        spec = DatabaseSpec(url_variable=database.url_variable, table="")
        return spec, source, Path.cwd()
    url = _url(database.url)
    if url.get_backend_name() == "sqlite":
        path = Path(url.database or "").resolve()
        if not path.is_file():
            said = "there is no such SQLite file: check the path"
            raise IngestionError((Problem(path.name, None, None, said),))
        named = f"sqlite:///{path.name}"
        told = replace(source, url=named)
        return DatabaseSpec(url=named, table=""), told, path.parent
    if url.password is not None or url.query:
        return DatabaseSpec(url_variable=_VARIABLE, table=""), source, Path.cwd()
    return DatabaseSpec(url=database.url, table=""), source, Path.cwd()


def _url(text: str) -> URL:
    try:
        return make_url(text)
    except (ArgumentError, ValueError) as error:
        raise IngestionError((Problem(_NAME, None, None, _NO_URL),)) from error


def _chosen(
    connection: Connection, wanted: Sequence[str]
) -> Iterator[tuple[str | None, str]]:
    """Yield schema and name of the tables and views that are wanted, or of all."""
    known = _names(connection, None)
    for one in wanted or known:
        schema, _, table = ("", "", one) if one in known else one.rpartition(".")
        held = _names(connection, schema) if schema else known
        if table not in held:
            near = get_close_matches(table, held, 1)
            hint = f": did you mean {near[0]}?" if near else ""
            source = DeclaredTable("--table", None, None, None, None, ())
            raise database_refused(source, f"there is no table or view {one}{hint}")
        yield schema or None, table


def _names(connection: Connection, schema: str | None) -> list[str]:
    held = inspect(connection)
    return sorted({*held.get_table_names(schema), *held.get_view_names(schema)})


def _looked_at(
    reader: SourceReader,
    connection: Connection,
    source: DeclaredTable,
    spec: DatabaseSpec,
) -> DraftSource:
    told = inspect(connection).get_columns(spec.table, spec.table_schema)
    names = [str(one["name"]) for one in told]
    unread = _unread(connection, source, names)
    kept = [name for name in names if name not in unread]
    padded = padded_columns(connection.dialect.name, told)
    records = _records(connection, source, kept, padded)
    copy = reader.copies.of_records(records, source.name)
    path = _named_as(copy.path, spec.table)
    drafted = reader.drafted(
        spec.table, (path,), (), Look(), (replace(copy, path=path),)
    )
    said = (_HIDDEN,) if spec.url_variable and source.url else ()
    key = inspect(connection).get_pk_constraint(spec.table, spec.table_schema)
    return replace(
        drafted,
        database=spec,
        key=tuple(key["constrained_columns"]),
        said=(*said, *drafted.said),
        left_out=tuple((name, _NO_TEXT) for name in unread),
    )


def _named_as(copy: Path, table: str) -> Path:
    """Return a copy of a table under the table's name, by which drafts call it."""
    plain = "".join(c if c.isalnum() or c in "_-" else "_" for c in table)[:100]
    path = copy.parent / f"{copy.stem}_of" / (plain or "table")
    path.parent.mkdir()
    return copy.rename(path)


def _rows(
    connection: Connection, source: DeclaredTable, names: Sequence[str]
) -> Iterator[Sequence[object]]:
    read = sql_table(
        str(source.table), *map(sql_column, names), schema=source.table_schema
    )
    result = connection.execute(sql_select(*read.c).limit(SAMPLED))
    yield from result.yield_per(10_000)


def _unread(
    connection: Connection, source: DeclaredTable, names: Sequence[str]
) -> list[str]:
    """Return the columns that hold a value which is no text."""
    found: set[str] = set()
    for row in _rows(connection, source, names):
        pairs = zip(names, row, strict=True)
        found |= {name for name, value in pairs if value_text(value) is None}
    return [name for name in names if name in found]


def _records(
    connection: Connection,
    source: DeclaredTable,
    names: Sequence[str],
    padded: Collection[str],
) -> Iterator[Record]:
    yield 0, list(names)
    for number, row in enumerate(_rows(connection, source, names), 1):
        texts = [value_text(value) or "" for value in row]
        yield number, without_padding(names, texts, padded)
