"""The files of a load: how to plan for them, and the staged ones, read and counted."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from privacy.schema import ColumnType
from query_lang.rendering.duckdb.levels import is_code_sql
from upstream.files.reading import ColumnReader, ReadStatus
from upstream.files.reading_sql import literal, quoted
from upstream.files.usual_forms import WHITE_SPACE
from upstream.staging.report import ColumnReport

_MISLED_BY_FILES = "join_order,build_side_probe_side"
_REFUSED = f"{ReadStatus.UNREADABLE:d}, {ReadStatus.NULL_REFUSED:d}"
_LOST = (ReadStatus.TO_NULL, ReadStatus.TOO_LONG)
_REPORTED = (ReadStatus.CLAMPED, ReadStatus.TO_OTHER, ReadStatus.ROUNDED, *_LOST)
_FEW = 5  # values beyond an end that may be alike by accident


@contextmanager
def planned_for_files(
    connection: duckdb.DuckDBPyConnection, *, ordered: bool
) -> Iterator[None]:
    """Let statements stream source files, in bounded memory.

    DuckDB takes a CSV file to be small, and would put all of it into a join's table
    instead of the few ids that it is joined with.

    Args:
        connection: Where the statements run.
        ordered: Whether rows keep the order of the files.
    """
    connection.execute(
        f"SET preserve_insertion_order = {str(ordered).lower()}; "
        f"SET disabled_optimizers = '{_MISLED_BY_FILES}'"
    )
    try:
        yield
    finally:
        connection.execute(
            "SET preserve_insertion_order = true; SET disabled_optimizers = ''"
        )


def files_sql(paths: Sequence[Path]) -> str:
    """Return the relation of all rows of staged files."""
    listed = ", ".join(quoted(str(path)) for path in paths)
    return f"read_parquet([{listed}], hive_partitioning=false)"


def parquet_in(folder: Path) -> list[Path]:
    """Return the staged files below a folder, always in the same order."""
    return sorted(folder.rglob("*.parquet"))


def refused_condition(positions: Sequence[int]) -> str:
    """Return the condition that a row refuses the load."""
    refused = ["NOT valid_id", *(f"s{i} IN ({_REFUSED})" for i in positions)]
    return f"({' OR '.join(refused)})"


def _is_declared(reader: ColumnReader, text: str) -> str:
    """Return the condition that a text is a value of its column's domain."""
    if reader.hierarchy is not None:
        return is_code_sql(reader.hierarchy, text, reader.own)
    listed = ", ".join(literal(value) for value in reader.allowed or ())
    return f"({text} IN ({listed}))"


class Counts:
    """How many rows and values met each outcome, counted in one pass."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        folder: Path,
        positions: list[int],
        *,
        is_public: bool,
    ) -> None:
        self._is_public = is_public
        self.rows = self.rows_without_unit = self.refused = 0
        self._connection, self._folder = connection, folder
        self._files: Mapping[int, int] = {}
        self._keys = [(i, outcome) for i in positions for outcome in _REPORTED]
        self._found = dict.fromkeys(self._keys, 0)
        self._positions = positions
        self._values = dict.fromkeys(positions, 0)
        if paths := parquet_in(folder):
            self._count(connection, files_sql(paths))

    def _count(self, connection: duckdb.DuckDBPyConnection, read: str) -> None:
        wanted = [
            "count(*)",
            "count(*) FILTER (unit_key IS NULL AND valid_id)",
            f"count(*) FILTER ({refused_condition(self._positions)})",
        ]
        wanted += [
            f"count(*) FILTER (unit_key IS NOT NULL AND s{i} = {outcome:d})"
            for i, outcome in self._keys
        ]
        wanted += [
            "count(*) FILTER (unit_key IS NOT NULL AND "
            f"(v{i} IS NOT NULL OR s{i} IN ({_LOST[0]:d}, {_LOST[1]:d})))"
            for i in self._positions
        ]
        rows = connection.execute(
            f"SELECT file, {', '.join(wanted)} FROM {read} GROUP BY file"  # noqa: S608 - our own names
        ).fetchall()
        if not rows:
            return
        self._files = {file: count for file, count, *_ in rows}
        sums = [sum(column) for column in zip(*rows, strict=True)][1:]
        self.rows, self.rows_without_unit, self.refused, *rest = sums
        outcomes, values = rest[: len(self._keys)], rest[len(self._keys) :]
        self._found = dict(zip(self._keys, outcomes, strict=True))
        self._values = dict(zip(self._positions, values, strict=True))

    def refused_of_each(self) -> dict[int, int]:
        """Return how many values of each column refuse the load, by its position."""
        wanted = ", ".join(
            f"count(*) FILTER (s{i} IN ({_REFUSED}))" for i in self._positions
        )
        paths = parquet_in(self._folder)
        if not paths or not wanted:
            return {}
        found = self._connection.execute(
            f"SELECT {wanted} FROM {files_sql(paths)}"  # noqa: S608 - our own names
        ).fetchone()
        return dict(zip(self._positions, found or (), strict=True))

    def of_file(self, number: int) -> int:
        """Return how many rows one file gave."""
        return self._files.get(number, 0)

    def report(self, reader: ColumnReader, position: int) -> ColumnReport:
        """Return one column's report."""
        blanks, case = self._spelled_otherwise(reader, position)
        return ColumnReport(
            name=reader.column.name,
            clamped=self._found[position, ReadStatus.CLAMPED],
            to_other=self._found[position, ReadStatus.TO_OTHER],
            to_null=sum(self._found[position, lost] for lost in _LOST),
            too_long=self._found[position, ReadStatus.TOO_LONG],
            values=self._values[position],
            rounded=self._found[position, ReadStatus.ROUNDED],
            alike_beyond=self._alike_beyond(position),
            but_for_blanks=blanks,
            but_for_case=case,
        )

    def _spelled_otherwise(
        self, reader: ColumnReader, position: int
    ) -> tuple[int, int]:
        """Return how many texts of a private column are declared but for blanks, case.

        Of those that became NULL or ``other``.
        """
        moved = (ReadStatus.TO_NULL, ReadStatus.TO_OTHER)
        is_some = any(self._found[position, outcome] for outcome in moved)
        is_listed = reader.allowed is not None or reader.hierarchy is not None
        is_text = reader.column.type is ColumnType.TEXT
        if self._is_public or not (is_some and is_listed and is_text):
            return 0, 0
        text = f"trim(l{position}, {quoted(WHITE_SPACE)})"
        plain, folded = _is_declared(reader, text), "false"
        if reader.allowed is not None:
            small = (quoted(str(value).lower()) for value in reader.allowed)
            folded = f"lower({text}) IN ({', '.join(small)})"
        found = self._connection.execute(
            f"SELECT count(*) FILTER ({plain}), "  # noqa: S608 - our own names
            f"count(*) FILTER (NOT {plain} AND {folded}) FROM "
            f"{files_sql(parquet_in(self._folder))} WHERE unit_key IS NOT NULL AND "
            f"s{position} IN ({', '.join(f'{one:d}' for one in moved)})"
        ).fetchone()
        return found or (0, 0)

    def _alike_beyond(self, position: int) -> int:
        """Return how many values of a private column lie beyond an end, all the same.

        Of values on both sides, each side counts by itself.
        """
        if self._found[position, ReadStatus.CLAMPED] <= _FEW or self._is_public:
            return 0
        found = self._connection.execute(
            "SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM "  # noqa: S608 - our own names
            f"{files_sql(parquet_in(self._folder))} WHERE unit_key IS NOT NULL AND "
            f"s{position} = {ReadStatus.CLAMPED:d} GROUP BY v{position} "
            f"HAVING n > {_FEW} AND min(l{position}) = max(l{position}))"
        ).fetchone()
        return int(found[0]) if found else 0
