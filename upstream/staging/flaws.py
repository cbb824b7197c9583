"""The slow pass: where, in the source files, are the values that refuse a load?"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from privacy.schema import ColumnType
from privacy.wording import counted
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
from upstream.staging.hints import hint, shapes, unit_hint

MOST_PROBLEMS = 20  # of one table; the rest shows when these are mended
MOST_LOOKED_AT = 1_000  # refused rows of one file, whose values are looked at
MOST_EXAMPLES = 3  # places of one problem that are told; all values are counted

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
class _Place:
    """Where a refused value stands: of Parquet the record alone."""

    file: str
    record: int
    line: int | None
    field: int | None

    def __str__(self) -> str:
        where = f"row {self.record}" if self.line is None else str(self.line)
        return f"{self.file}:{where}"


@dataclass(frozen=True, slots=True)
class _Value:
    """A refused value: its column's position, what is said of it, its place."""

    index: int
    sentence: str
    place: _Place
    text: str = field(repr=False)


@dataclass(slots=True)
class _Met:
    """The values of one column of which one thing is said."""

    values: list[_Value] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Flaws:
    """A table's files and rules, to find the values that the rules refuse."""

    table: TableSpec
    files: Sequence[SourceFile]
    readers: Mapping[int, ColumnReader]
    unit_type: UnitType

    def problems(
        self,
        connection: duckdb.DuckDBPyConnection,
        refused: Sequence[str],
        counts: Mapping[int, int],
    ) -> tuple[Problem, ...]:
        """Return one problem a column and trouble, in the order of the files.

        Args:
            connection: Where the queries run.
            refused: For each file the query of its first refused rows: their number
                from 1, whether the unit id is one, and the outcomes.
            counts: How many values of each column are refused, in all files.
        """
        found: dict[tuple[int, str], _Met] = {}
        for one in self._in_all_files(connection, refused):
            met = found.setdefault((one.index, one.sentence), _Met())
            met.values.append(one)
        told = Counter(index for index, _ in found)
        problems = [
            self._told(met, counts.get(index, 0) if told[index] == 1 else 0)
            for (index, _), met in found.items()
        ]
        return tuple(problems[:MOST_PROBLEMS]) or (self._unlocated(),)

    def _told(self, met: "_Met", count: int) -> Problem:
        """Return what is said of refused values: the first's place, and two more."""
        first, *more = met.values
        count = max(count, len(met.values))
        said = first.sentence
        if first.place.line is None:
            said = f"row {first.place.record}: {said}"
        column = self.table.columns[first.index]
        texts = [v.text for v in met.values if v.text]
        is_unit = column.name == self.table.unit_column
        known = unit_hint(texts) if is_unit else hint(column, texts)
        if shown := known or shapes(texts):
            said += f"; {shown}"
        if self._is_total(met, count):
            said += "; is it a line of totals? Then declare footer_rows: 1"
        if count > 1:
            places = " and ".join(
                str(value.place) for value in more[: MOST_EXAMPLES - 1]
            )
            said += (
                f" ({counted(count, 'value')}; others at {places})" if places else ""
            )
        return Problem(first.place.file, first.place.line, first.place.field, said)

    def _is_total(self, met: "_Met", count: int) -> bool:
        """Whether the one value that is refused stands in a file's last record."""
        value = met.values[0]
        file = next(file for file in self.files if file.name == value.place.file)
        is_last = isinstance(file, CsvFile) and value.place.record == file.records
        is_unit = self.table.columns[value.index].name == self.table.unit_column
        return count == 1 and is_last and is_unit

    def _in_all_files(
        self, connection: duckdb.DuckDBPyConnection, refused: Sequence[str]
    ) -> Iterator["_Value"]:
        for file, query in zip(self.files, refused, strict=True):
            rows = connection.execute(query).fetchall()
            if isinstance(file, CsvFile):
                yield from self._in_csv(file, [at for at, *_ in rows])
            else:
                yield from self._in_parquet(file.name, rows)

    def _in_csv(self, file: CsvFile, numbers: Sequence[int]) -> Iterator["_Value"]:
        places = {
            index: file.header.index(name)
            for index, c in enumerate(self.table.columns)
            for name in c.names_in(file.header)
        }
        records = csv_records_at(file, numbers)
        for number, (line, fields) in zip(numbers, records, strict=True):
            for index, place in places.items():
                sentence = self._refusal(index, fields[place])
                if sentence:
                    at = _Place(file.name, number, line, place + 1)
                    yield _Value(index, sentence, at, fields[place])

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
    ) -> Iterator["_Value"]:
        names = [column.name for column in self.table.columns]
        unit = names.index(self.table.unit_column) if self.table.unit_column else 0
        for at, valid_id, *found in rows:
            place = _Place(name, at, None, None)
            if not valid_id:
                bad = _LONG_ID if self.unit_type == "text" else _BAD_ID
                yield _Value(unit, bad, place, "")
            for i, outcome in zip(self.readers, found, strict=True):
                sentence = sentence_of(self.table.columns[i], ReadStatus(outcome))
                if sentence:
                    yield _Value(i, sentence, place, "")

    def _unlocated(self) -> Problem:
        names = ", ".join(file.name for file in self.files)
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
