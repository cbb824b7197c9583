"""The slow pass: where, in the source files, are the values that refuse a load?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import duckdb

from privacy.schema import ColumnType
from upstream.errors import Problem
from upstream.files.csv_structure import CsvFile, csv_records_at
from upstream.files.reading import ColumnReader, ReadStatus
from upstream.files.sources import SourceFile
from upstream.manifests.declarations import ColumnSpec, TableSpec
from upstream.staging.canonical import (
    MOST_ID_BYTES,
    UnitIdError,
    UnitType,
    canonical_unit_id,
)

MOST_PROBLEMS = 20  # of one table; the rest shows when these are mended

_EXPECTED = {
    ColumnType.INTEGER: "an integer of 64 bits, such as -7",
    ColumnType.DECIMAL: "a number of 64 bits without exponent, such as 3.14",
    ColumnType.DATE: "a day as YYYY-MM-DD",
    ColumnType.TIMESTAMP: "a moment as YYYY-MM-DD HH:MM:SS, without zone",
    ColumnType.BOOLEAN: "true or false",
    ColumnType.TEXT: "a text",
}
_BAD_ID = "the unit id is no integer of 64 bits: mend it, or declare unit_type: text"
_LONG_ID = f"the unit id has more than {MOST_ID_BYTES:,} bytes: is this its column?"


@dataclass(frozen=True, slots=True)
class Flaws:
    """A table's files and rules, to find the values that the rules refuse."""

    table: TableSpec
    files: Sequence[SourceFile]
    readers: Mapping[int, ColumnReader]
    unit_type: UnitType

    def problems(
        self, connection: duckdb.DuckDBPyConnection, refused: Sequence[str]
    ) -> tuple[Problem, ...]:
        """Return the first problems, in the order of files, lines and columns.

        Args:
            connection: Where the queries run.
            refused: For each file the query of its first refused rows: their number
                from 1, whether the unit id is one, and the outcomes.
        """
        found = self._in_all_files(connection, refused)
        return tuple(islice(found, MOST_PROBLEMS)) or (self._unlocated(),)

    def _in_all_files(
        self, connection: duckdb.DuckDBPyConnection, refused: Sequence[str]
    ) -> Iterator[Problem]:
        for file, query in zip(self.files, refused, strict=True):
            rows = connection.execute(query).fetchall()
            if isinstance(file, CsvFile):
                yield from self._in_csv(file, [at for at, *_ in rows])
            else:
                yield from self._in_parquet(file.path.name, rows)

    def _in_csv(self, file: CsvFile, numbers: Sequence[int]) -> Iterator[Problem]:
        places = [file.header.index(c.file_column) for c in self.table.columns]
        for line, fields in csv_records_at(file.path, numbers):
            for index, place in enumerate(places):
                sentence = self._refusal(index, fields[place])
                if sentence:
                    yield Problem(file.path.name, line, place + 1, sentence)

    def _refusal(self, index: int, raw: str) -> str | None:
        column = self.table.columns[index]
        if column.name == self.table.unit_column:
            return self._id_refusal(column, raw)
        _, outcome = self.readers[index].read(raw)
        return sentence_of(column, outcome)

    def _id_refusal(self, column: ColumnSpec, raw: str) -> str | None:
        if raw in column.null_values:
            return None
        try:
            canonical_unit_id(raw, self.unit_type)
        except UnitIdError:
            return _LONG_ID if self.unit_type == "text" else _BAD_ID
        return None

    def _in_parquet(
        self, name: str, rows: Sequence[tuple[int, ...]]
    ) -> Iterator[Problem]:
        for at, valid_id, *found in rows:
            if not valid_id:
                bad = _LONG_ID if self.unit_type == "text" else _BAD_ID
                yield Problem(name, None, None, f"row {at}: {bad}")
            for i, outcome in zip(self.readers, found, strict=True):
                sentence = sentence_of(self.table.columns[i], ReadStatus(outcome))
                if sentence:
                    yield Problem(name, None, None, f"row {at}: {sentence}")

    def _unlocated(self) -> Problem:
        names = ", ".join(file.path.name for file in self.files)
        sentence = f"table {self.table.name} holds values that cannot be read"
        return Problem(names, None, None, sentence)


def sentence_of(column: ColumnSpec, outcome: ReadStatus) -> str | None:
    """Return what to do about a value, or None where it is no problem."""
    if outcome is ReadStatus.NULL_REFUSED:
        return (
            f"{column.name} would be NULL here (empty, impossible or outside its "
            f"domain{_or_too_long(column)}) but is not nullable: mend the value or "
            "allow NULL"
        )
    if outcome is not ReadStatus.UNREADABLE:
        return None
    form = f"a text in the format {column.format}" if column.format else None
    return (
        f"{column.name} cannot be read: expected {form or _EXPECTED[column.type]}; "
        "mend the value, or declare null_values, map or another type"
    )


def _or_too_long(column: ColumnSpec) -> str:
    """Say how long a text may be; nothing of other types."""
    if column.type is not ColumnType.TEXT:
        return ""
    return f", or longer than its max_length of {column.length_bytes:,} bytes"
