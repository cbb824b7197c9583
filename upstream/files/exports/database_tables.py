"""Tables of databases, row by row, as texts; all of a load in one state of each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

from sqlalchemy import CHAR, Connection, inspect
from sqlalchemy import column as sql_column
from sqlalchemy import select as sql_select
from sqlalchemy import table as sql_table

from upstream.files.exports.databases import (
    DatabaseSource,
    connected,
    database_refused,
)
from upstream.files.exports.workbooks import cell_text
from upstream.files.records import Record
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import DatabaseSpec

_ROWS = 10_000  # fetched at once
_PADDING = frozenset({"postgresql", "oracle", "mssql"})
"""Databases that give texts of ``char(n)`` with blanks up to their length."""


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """A table of a manifest that is read from a database."""

    name: str
    url: str | None
    url_variable: str | None
    table: str | None
    table_schema: str | None
    columns: tuple[str, ...]


class OpenDatabases:
    """The databases of a load, each opened once: its tables are read in one state."""

    def __init__(self, import_folder: Path) -> None:
        self._import_folder = import_folder
        self._stack: ExitStack | None = None
        self._open: dict[tuple[str | None, str | None], Connection] = {}

    def open_in(self, stack: ExitStack) -> None:
        """Keep what is opened open as long as the stack."""
        self._open = {}
        self._stack = stack

    def connection(self, source: DatabaseSource) -> Connection:
        """Return the connection to a source's database.

        Raises:
            IngestionError: There is none.
        """
        place = (source.url, source.url_variable)
        if place not in self._open:
            if self._stack is None:
                raise RuntimeError
            opened = connected(source, self._import_folder)
            self._open[place] = self._stack.enter_context(opened)
        return self._open[place]


def declared_table(table: TableSpec, spec: DatabaseSpec) -> DeclaredTable:
    """Return a manifest's table as it is read from its database."""
    columns = tuple(dict.fromkeys(c.file_columns[0] for c in table.columns))
    return DeclaredTable(
        f"the database of {table.name}",
        spec.url,
        spec.url_variable,
        spec.table,
        spec.table_schema,
        columns,
    )


def database_records(table: TableSpec, databases: OpenDatabases) -> Iterator[Record]:
    """Yield the header, then number and texts of each row.

    Rows come in the order of the declared key, else of the columns that are read. Of a
    private table these are the declared ones, of a public one all.

    Raises:
        IngestionError: The database cannot be read, or holds what is no text.
    """
    if table.database is None:
        raise ValueError
    source = declared_table(table, table.database)
    connection = databases.connection(source)
    told = inspect(connection).get_columns(str(source.table), source.table_schema)
    names = [str(one["name"]) for one in told] if table.public else source.columns
    padded = padded_columns(connection.dialect.name, told)
    read = sql_table(
        str(source.table), *map(sql_column, names), schema=source.table_schema
    )
    order = [c.file_columns[0] for c in table.columns if c.name in table.key] or names
    statement = sql_select(*read.c).order_by(*(read.c[name] for name in order))
    options = {"stream_results": True, "max_row_buffer": _ROWS}
    result = connection.execution_options(**options).execute(statement)
    yield 0, list(names)
    for number, row in enumerate(result.yield_per(_ROWS), 1):
        texts = [_text(source, value) for value in row]
        yield number, without_padding(names, texts, padded)


def padded_columns(
    dialect: str, told: Sequence[Mapping[str, object]]
) -> frozenset[str]:
    """Return the columns whose texts a database fills up with blanks: ``char(n)``."""
    if dialect not in _PADDING:
        return frozenset()
    return frozenset(str(one["name"]) for one in told if isinstance(one["type"], CHAR))


def without_padding(
    names: Sequence[str], texts: Sequence[str], padded: Collection[str]
) -> list[str]:
    """Return a row's texts without the blanks of ``char(n)``, which mean nothing.

    >>> without_padding(["code", "note"], ["AB  ", "AB  "], {"code"})
    ['AB', 'AB  ']
    """
    pairs = zip(names, texts, strict=True)
    return [text.rstrip(" ") if name in padded else text for name, text in pairs]


def _text(source: DatabaseSource, value: object) -> str:
    """Return a value as text; NULL is the empty one."""
    text = value_text(value)
    if text is None:
        said = "a column holds bytes or lists: read a view that has it as text"
        raise database_refused(source, said)
    return text


def value_text(value: object) -> str | None:
    """Return a value as text, NULL as the empty one; None: it is no text.

    >>> value_text(2.5), value_text(None), value_text(b"x")
    ('2.5', '', None)
    """
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bool | int | float | str | datetime | date | time):
        return cell_text(value)
    return str(value) if type(value).__name__ == "UUID" else None
