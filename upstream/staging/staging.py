"""From source files to typed, hashed rows on disk, in buckets of the unit key.

One pass over the files: parsed, typed and hashed rows stream into Parquet files in the
load's own folder, split by the first bits of the unit key. Later steps take one bucket
at a time, so no step's memory grows with the table. The snapshot file is not touched:
no page of it ever held a raw id.
"""

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from upstream.errors import IngestionError, Problem
from upstream.files.csv_structure import CsvFile
from upstream.files.reading import ColumnReader, reader_of
from upstream.files.reading_sql import quoted, reading_steps
from upstream.files.sources import SourceFile, rows_of
from upstream.manifests.declarations import Fold, TableSpec
from upstream.progress import Progress, ProgressStep, watched
from upstream.staging.canonical import (
    UnitIdError,
    UnitType,
    canonical_unit_id,
    folded_sql,
    plain_id_sql,
    plain_sql,
)
from upstream.staging.file_columns import (
    FileColumn,
    file_columns,
    lost_text_sql,
    lost_texts_sql,
)
from upstream.staging.flaws import MOST_LOOKED_AT, Flaws
from upstream.staging.raw_rows import raw_rows_sql
from upstream.staging.report import ColumnReport
from upstream.staging.row_hash import (
    hashed_text_sql,
    message_sql,
    row_hash_sql,
    unit_key_sql,
)
from upstream.staging.staged_files import (
    Counts,
    files_sql,
    parquet_in,
    planned_for_files,
    refused_condition,
)
from upstream.staging.units import collect_units

READING_LAYERS = ("present", "readable", "parsed", "value", "outcome")
INVALID_ID = ""  # what the function canonical_id gives for an id that is none
MOST_BUCKET_BITS = 8
_WAITING_BYTES = 2**26
_LEAST_ROW_GROUP, _MOST_ROW_GROUP = 2**11, 2**16
MOST_JOINED_IDS = 2_000_000  # more are spelled and hashed row by row: slower, no table
_NOWHERE = -1  # the bucket of rows without a unit


@dataclass(frozen=True, slots=True)
class StagingArea:
    """Where and how tables are staged.

    Attributes:
        connection: A database in memory with the keys and ``canonical_id``.
        folder: The load's own folder; gone when the load ends.
        unit_type: How the population's unit ids are written.
        folds: In what spellings of one id may differ.
        bucket_bytes: About how much of a table is ranked at once.
        progress: Whom to tell.
    """

    connection: duckdb.DuckDBPyConnection
    folder: Path
    unit_type: UnitType
    folds: tuple[Fold, ...]
    bucket_bytes: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class StagedTable:
    """A table's typed rows, as Parquet files in the load's folder.

    Their columns: ``unit_key``, ``first_hash`` (the row hash if it is the first of its
    equals), ``mark`` (64 bits that rows with equal texts share), then ``v0``, ``v1``,
    ... of the stored columns by position in the manifest, and ``l0``, ``l1``, ...:
    their texts where no domain keeps them, which are compared and never stored. A
    public table has ``position`` (from 1 in source order) instead of the first three,
    one bucket, and in place of the last ``w<k>``, ``k<k>`` of
    ``upstream.public_check.lost_texts``.

    Attributes:
        messages: The query of all rows' ``unit_key``, ``mark`` and ``message`` (the
            hash's fields up to the occurrence number), from the files. Few rows need
            theirs, and texts are most of a table's bytes: they are not staged.
    """

    table: TableSpec
    files: tuple[SourceFile, ...]
    folder: Path
    bits: int
    rows_read: int
    rows_without_unit: int
    columns: tuple[ColumnReport, ...]
    messages: str

    def stored(self) -> list[tuple[int, str]]:
        """Return position and declared name of each stored column."""
        return stored_positions(self.table)

    def discard(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Remove the files and the table of ids; the snapshot has all that stays."""
        shutil.rmtree(self.folder)
        connection.execute(f"DROP TABLE IF EXISTS {_ids_of(self.table)}")

    def buckets(self) -> list[str]:
        """Return the relations of rows with a unit, in the order of unit keys.

        Every row of a unit is in one of them; empty ones are left out.
        """
        folders = (self.folder / f"bucket={n}" for n in range(2**self.bits))
        return [files_sql(paths) for f in folders if (paths := parquet_in(f))]


def stored_positions(table: TableSpec) -> list[tuple[int, str]]:
    """Return position in the manifest and name of each column that is stored."""
    return [
        (i, c.name) for i, c in enumerate(table.columns) if c.name != table.unit_column
    ]


def _ids_of(table: TableSpec) -> str:
    return f'temp."ids_{table.name}"'


def canonical_id_or_mark(raw: str | None, unit_type: UnitType) -> str | None:
    """Return a canonical unit id, None for no unit, ``INVALID_ID`` for no id."""
    try:
        return canonical_unit_id(raw, unit_type)
    except UnitIdError:
        return INVALID_ID


def typed_rows_sql(rows: str, readers: Mapping[int, ColumnReader]) -> str:
    """Return the query of rows with their columns' five layers."""
    steps = {i: reading_steps(reader, i) for i, reader in readers.items()}
    for letter, name in zip("nfpvs", READING_LAYERS, strict=True):
        added = "".join(
            f", {getattr(s, name)} AS {letter}{i}" for i, s in steps.items()
        )
        rows = f"SELECT *{added} FROM ({rows})"  # noqa: S608 - quoted texts
    return rows


def stage(
    area: StagingArea, table: TableSpec, files: Sequence[SourceFile]
) -> StagedTable:
    """Read, type, check and hash a table's rows.

    Raises:
        IngestionError: Values that cannot be read, with file, line and field.
    """
    return _Stage(area, table, tuple(files)).run()


class _Stage:
    """One table's way from its files to the staged rows."""

    def __init__(
        self, area: StagingArea, table: TableSpec, files: tuple[SourceFile, ...]
    ) -> None:
        self.area = area
        self.table = table
        self.files = files
        self.folder = area.folder / f"staged_{table.name}"
        self.ids = _ids_of(table)
        self.file_bytes = sum(file.path.stat().st_size for file in files)
        self.joins_ids = False  # until there is a table of them
        self.readers = {
            i: reader_of(table.columns[i]) for i, _ in stored_positions(table)
        }

    def run(self) -> StagedTable:
        rows = sum(rows_of(file, self.area.connection) for file in self.files)
        self.folder.mkdir()
        if self.table.public:
            bits = 0
            self._write(rows, self._public_sql(), self._one_file())
        else:
            self._name_units(rows)
            bits = self._bits(rows)
            typed = self._typed_sql(self.files)
            query = f"SELECT *, {_bucket_sql(bits)} AS bucket FROM ({typed})"  # noqa: S608 - our own names
            self._write(rows, query, self._file_a_bucket(rows, bits))
        counts = Counts(
            self.area.connection,
            self.folder,
            list(self.readers),
            is_public=self.table.public,
        )
        self._refuse_other_rows(counts)
        if counts.refused:
            raise IngestionError(self._problems(counts.refused_of_each()))
        return StagedTable(
            table=self.table,
            files=self.files,
            folder=self.folder,
            bits=bits,
            rows_read=counts.rows,
            rows_without_unit=0 if self.table.public else counts.rows_without_unit,
            columns=tuple(
                counts.report(self.readers[i], i)
                for i, _ in stored_positions(self.table)
            ),
            messages="" if self.table.public else self._messages_sql(),
        )

    def _size_bytes(self, rows: int) -> int:
        """Return about what the staged rows take; never 0."""
        return max(1, rows * (64 + 24 * len(self.table.columns)), self.file_bytes)

    def _bits(self, rows: int) -> int:
        """Return the bits of the bucket's number."""
        buckets = self._size_bytes(rows) // self.area.bucket_bytes
        return min(MOST_BUCKET_BITS, buckets.bit_length())

    def _write(self, rows: int, query: str, target: str) -> None:
        """Stream the rows into their files."""
        start = ProgressStep("read", self.table.name, 0, max(1, rows), "rows")
        with self._reading(), watched(self.area.progress, start, self.file_bytes):
            self.area.connection.execute(f"COPY ({query}) TO {target}")

    def _one_file(self) -> str:
        return f"{quoted(str(self.folder / 'rows.parquet'))} (FORMAT parquet)"

    def _file_a_bucket(self, rows: int, bits: int) -> str:
        """Return the target that splits rows by bucket.

        What waits in memory, a row group a bucket, is held near ``_WAITING_BYTES``:
        DuckDB flushes when a bucket, not the whole, passes the threshold.
        """
        row_bytes = self._size_bytes(rows) // max(1, rows) + 1
        waiting = (_WAITING_BYTES // row_bytes) >> bits
        group = min(_MOST_ROW_GROUP, max(_LEAST_ROW_GROUP, waiting))
        self.area.connection.execute(f"SET partitioned_write_flush_threshold = {group}")
        return (
            f"{quoted(str(self.folder))} (FORMAT parquet, COMPRESSION lz4_raw, "
            f"DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE {group}, "
            "PARTITION_BY (bucket), OVERWRITE_OR_IGNORE)"
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Read the files in any order, or in theirs where it counts: public tables.

        Raises:
            IngestionError: DuckDB cannot read what the strict pass could.
        """
        try:
            with planned_for_files(self.area.connection, ordered=self.table.public):
                yield
        except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
            raise IngestionError((self._unread(self.files),)) from error

    def _public_sql(self) -> str:
        """Return the query of a public table's rows, and of texts that they lose."""
        looked_at = file_columns(self.table, self.files)
        layer = self._layers(self.files, "row_number() OVER ()", looked_at)
        columns = "".join(f", v{i}, s{i}" for i in self.readers)
        lost = lost_texts_sql(self.table, looked_at, self.readers)
        return (
            f"SELECT file, position, unit_key, valid_id{columns}{lost} FROM ({layer})"  # noqa: S608 - quoted texts
        )

    def _typed_sql(self, files: Sequence[SourceFile]) -> str:
        """Return the query of typed rows, their hashes and their outcomes."""
        layer = self._layers(files, "0")
        columns = "".join(
            f", v{i}, s{i}{lost_text_sql(i, reader)}"
            for i, reader in self.readers.items()
        )
        first = row_hash_sql("message", quoted("V1:1"))
        return (
            f"SELECT * EXCLUDE (message), hash(message) AS mark, {first} AS first_hash "  # noqa: S608 - as above
            f"FROM (SELECT file, valid_id, unit_key, {self._message()} AS message"
            f"{columns} FROM ({layer}))"
        )

    def _message(self) -> str:
        columns = range(len(self.table.columns))
        texts = ["uid", *(hashed_text_sql(f"r{i}") for i in columns)]
        return message_sql([self.table.name], texts)

    def _messages_sql(self) -> str:
        """Return the query that reads the files again for messages alone."""
        rows = self._with_ids(raw_rows_sql(self.table, self.files))
        messages = f"SELECT unit_key, {self._message()} AS message FROM ({rows})"  # noqa: S608 - quoted texts
        return f"SELECT *, hash(message) AS mark FROM ({messages})"  # noqa: S608 - as above

    def _layers(
        self,
        files: Sequence[SourceFile],
        position: str,
        looked_at: Sequence[FileColumn] = (),
    ) -> str:
        """Return the query of texts ``r<i>``, values ``v<i>`` and outcomes ``s<i>``."""
        raw = raw_rows_sql(self.table, files, looked_at)
        rows = self._with_ids(f"SELECT *, {position} AS position FROM ({raw})")  # noqa: S608 - quoted names and paths
        return typed_rows_sql(rows, self.readers)

    def _name_units(self, rows: int) -> None:
        """Make the table of ids: each spelling, its unit and the unit's key.

        A pass of its own over one column: ids repeat, and a key is dear to compute.
        """
        connection = self.area.connection
        raw = raw_rows_sql(self.table, self.files)
        ids = f"SELECT DISTINCT {_unit_text(self.table)} AS raw_id FROM ({raw})"  # noqa: S608 - quoted texts
        query = self._spelled_sql(ids)
        start = ProgressStep("units", self.table.name, 0, max(1, rows), "rows")
        with self._reading(), watched(self.area.progress, start, self.file_bytes):
            connection.execute(f"CREATE TEMP TABLE {self.ids} AS {query}")
        self.joins_ids = collect_units(connection, self.ids) <= MOST_JOINED_IDS
        if not self.joins_ids:
            connection.execute(f"DROP TABLE {self.ids}")

    def _with_ids(self, raw: str) -> str:
        if self.table.unit_column is None:
            return (
                "SELECT *, '' AS uid, true AS valid_id, CAST(0 AS BIGINT) AS unit_key "  # noqa: S608 - quoted
                f"FROM ({raw})"
            )
        raw = f"SELECT *, {_unit_text(self.table)} AS raw_id FROM ({raw})"  # noqa: S608 - quoted texts
        if not self.joins_ids:
            return self._spelled_sql(raw)
        return (
            "SELECT t.*, ids.uid, coalesce(ids.valid_id, true) AS valid_id, "  # noqa: S608 - quoted texts
            f"ids.unit_key FROM ({raw}) AS t "
            f"LEFT JOIN {self.ids} AS ids ON ids.raw_id = t.raw_id"
        )

    def _spelled_sql(self, rows: str) -> str:
        return spelled_sql(rows, self.area.unit_type, self.area.folds)

    def _refuse_other_rows(self, counts: "Counts") -> None:
        """Refuse if DuckDB saw other rows than the strict pass did."""
        for number, file in enumerate(self.files):
            if isinstance(file, CsvFile) and counts.of_file(number) != file.records:
                raise IngestionError((self._unread([file]),))

    def _unread(self, files: Sequence[SourceFile]) -> Problem:
        name = ", ".join(file.name for file in files)
        sentence = (
            f"table {self.table.name} cannot be read: write the file as plain CSV anew"
        )
        return Problem(name, None, None, sentence)

    def _problems(self, counts: Mapping[int, int]) -> tuple[Problem, ...]:
        flaws = Flaws(self.table, self.files, self.readers, self.area.unit_type)
        relations = [self._refused_sql(file) for file in self.files]
        return flaws.problems(self.area.connection, relations, counts)

    def _refused_sql(self, file: SourceFile) -> str:
        """Return the query of a file's first refused rows and their places.

        It gives ``position`` (from 1 in the file), ``valid_id``, then the outcomes.
        """
        layer = self._layers([file], "row_number() OVER ()")
        outcomes = "".join(f", s{i}" for i in self.readers)
        return (
            f"SELECT position, valid_id{outcomes} FROM ({layer}) "  # noqa: S608 - as above
            f"WHERE {refused_condition(list(self.readers))} "
            f"ORDER BY position LIMIT {MOST_LOOKED_AT}"
        )


def _bucket_sql(bits: int) -> str:
    """Return the expression of a row's bucket: its key's first bits, in key order."""
    number = f"(unit_key >> {64 - bits}) + {2**bits // 2}" if bits else "0"
    return f"CASE WHEN unit_key IS NULL THEN {_NOWHERE} ELSE {number} END"


def spelled_sql(rows: str, unit_type: UnitType, folds: Collection[Fold]) -> str:
    """Return the query of rows with the unit and key of their ``raw_id``.

    ``plain_uid`` is the canonical id before spellings are folded.
    """
    is_plain = plain_id_sql("raw_id", unit_type)
    spelled = (
        f"CASE WHEN {is_plain} THEN {plain_sql('raw_id', unit_type)} "
        "ELSE canonical_id(raw_id) END"
    )
    folded = "plain_uid"
    if folds:
        plain = folded_sql("plain_uid", folds)
        folded = (
            f"nullif(CASE WHEN {is_plain} THEN {plain} ELSE folded_id(plain_uid) END, "
            "'')"
        )
    return (
        f"SELECT *, {unit_key_sql('uid')} AS unit_key FROM ("  # noqa: S608 - quoted texts
        f"SELECT *, {folded} AS uid FROM ("
        f"SELECT * EXCLUDE (spelled), nullif(spelled, '{INVALID_ID}') AS plain_uid, "
        f"coalesce(spelled <> '{INVALID_ID}', true) AS valid_id FROM ("
        f"SELECT *, {spelled} AS spelled FROM ({rows}))))"
    )


def _unit_text(table: TableSpec) -> str:
    """Return the expression of the unit column's text, NULL where it stands for it."""
    index = [c.name for c in table.columns].index(str(table.unit_column))
    nulls = ", ".join(quoted(text) for text in table.columns[index].null_values)
    return f"CASE WHEN r{index} IN ({nulls or 'NULL'}) THEN NULL ELSE r{index} END"
