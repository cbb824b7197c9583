"""A register: one DuckDB file with all that one run of a linkage read and found.

It holds names, so it lies in a folder of its own job and nobody else opens it. A later
run begins with what an earlier one settled: ``take_over``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb

from upstream.linkage.declared import LinkageSpec

MEMORY: Final = "1GB"
"""Of DuckDB's for one run; what does not fit goes to its temporary folder."""
_THREADS: Final = 2
_SCHEMA: Final = """
CREATE TABLE standing (  -- whose each record is; is_here: the latest export has it
  number INTEGER PRIMARY KEY, is_here BOOLEAN, is_changed BOOLEAN, home BIGINT,
  key BIGINT, rows BIGINT);
CREATE TABLE pair (
  "left" INTEGER, "right" INTEGER, score DOUBLE, weight DOUBLE, differs BOOLEAN);
CREATE TABLE act (
  ordinal INTEGER, kind VARCHAR, old BIGINT, new BIGINT, records INTEGER);
CREATE TABLE doubt (
  ordinal INTEGER, "left" INTEGER, "right" INTEGER, score DOUBLE, weight DOUBLE,
  reason VARCHAR);
CREATE TABLE fact (name VARCHAR PRIMARY KEY, value VARCHAR);
CREATE TABLE identifier (
  key BIGINT, record INTEGER, class VARCHAR, attribute VARCHAR, value VARCHAR,
  source VARCHAR, id VARCHAR, file VARCHAR, place VARCHAR, start BIGINT,
  "end" BIGINT, finder VARCHAR);
"""
_KEPT: Final = ("record", "standing", "pair", "act", "fact", "identifier")
Tell = Callable[[str, int, int | None], None]
"""Told a stage, and how much of it is done, of how much if that is known."""


Columns = Mapping[str, tuple[str, Sequence[object]]]
"""Types and values of columns, by name; of each as many as there are rows."""


def quoted(name: str) -> str:
    """Return a name as SQL has it.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


class Register:
    """An open register; ``connection`` is DuckDB's."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def create(self, spec: LinkageSpec) -> None:
        """Make the tables, without a record."""
        fields = "".join(f", {quoted(name)} VARCHAR" for name in spec.fields)
        self.connection.execute(
            f"CREATE TABLE record (number INTEGER, source VARCHAR, id VARCHAR{fields})"
        )
        self.connection.execute(_SCHEMA)

    def take_over(self, earlier: Path, spec: LinkageSpec) -> None:
        """Begin with the records that an earlier run had, and whose they are.

        A field that is new is missing; one that is no longer compared is left out.
        """
        self.connection.execute(f"ATTACH '{_literal(earlier)}' AS earlier (READ_ONLY)")
        try:
            known = self._columns("earlier")
            fields = [f for f in spec.fields if f in known]
            names = ", ".join(map(quoted, ("number", "source", "id", *fields)))
            self.connection.execute(
                f"INSERT INTO record ({names}) SELECT {names} FROM earlier.record"  # noqa: S608 - declared identifiers, quoted
            )
            self.connection.execute(
                "INSERT INTO standing SELECT number, FALSE, FALSE, home, key, 0 "
                "FROM earlier.standing"
            )
            self.connection.execute(
                "INSERT INTO pair BY NAME SELECT * FROM earlier.pair"
            )
            self.connection.execute(
                "INSERT INTO fact SELECT * FROM earlier.fact WHERE name IN "
                "('spec', 'parameters', 'next_key')"
            )
        finally:
            self.connection.execute("DETACH earlier")

    def _columns(self, catalogue: str) -> set[str]:
        rows = self.connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE database_name = ? AND "
            "table_name = 'record'",
            [catalogue],
        ).fetchall()
        return {str(name) for (name,) in rows}

    def insert(
        self, table: str, columns: Mapping[str, tuple[str, Sequence[object]]]
    ) -> None:
        """Append rows to a table of ours.

        Args:
            table: Its name, quoted where it has to be.
            columns: By name, all of the table: the type and the values of each row.
        """
        told = ", ".join(f"unnest(?::{kind}[])" for kind, _ in columns.values())
        names = ", ".join(map(quoted, columns))
        self.connection.execute(
            f"INSERT INTO {table} ({names}) SELECT {told}",
            [list(values) for _, values in columns.values()],
        )

    def remember(self, name: str, value: object) -> None:
        """Write a fact of the run, as JSON."""
        self.connection.execute(
            "INSERT OR REPLACE INTO fact VALUES (?, ?)", [name, json.dumps(value)]
        )

    def fact(self, name: str) -> object:
        """Return a fact of the run, None where there is none."""
        row = self.connection.execute(
            "SELECT value FROM fact WHERE name = ?", [name]
        ).fetchone()
        return None if row is None else json.loads(str(row[0]))

    def count(self, table: str, condition: str = "TRUE") -> int:
        """Return how many rows of a table of ours fulfil a condition of ours."""
        row = self.connection.execute(
            f"SELECT count(*) FROM {table} WHERE {condition}"  # noqa: S608 - ours
        ).fetchone()
        return int(row[0]) if row else 0

    def copy_to(self, path: Path) -> None:
        """Write what a later run needs, and what is shown, into a new file."""
        connection = self.connection
        connection.execute(f"ATTACH '{_literal(path)}' AS kept")
        try:
            for table in _KEPT:
                connection.execute(f"CREATE TABLE kept.{table} AS FROM {table}")
        finally:
            connection.execute("DETACH kept")

    def interrupt(self) -> None:
        """End a statement that runs now."""
        self.connection.interrupt()


@contextmanager
def opened(path: Path, *, read_only: bool = False) -> Iterator[Register]:
    """Open a register's file, and close it.

    Args:
        path: The file; made where it is not there, unless it is only read.
        read_only: Whether it stays as it is.
    """
    config: Mapping[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "threads": _THREADS,
        "temp_directory": str(path.parent / "spilled"),
        "enable_external_access": True,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
    }
    connection = duckdb.connect(str(path), read_only=read_only, config=dict(config))
    try:
        connection.execute("SET enable_progress_bar = false")
        yield Register(connection)
    finally:
        connection.close()


def _literal(path: Path) -> str:
    return str(path).replace("'", "''")
