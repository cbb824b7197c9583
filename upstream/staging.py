"""From source files to typed rows with canonical unit ids, in temporary tables.

Temporary tables never touch the snapshot file: no page of it ever held a raw id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from upstream.canonical import (
    UnitIdError,
    UnitType,
    canonical_unit_id,
    plain_id_sql,
    plain_sql,
)
from upstream.csv_structure import CsvFile
from upstream.declarations import TableSpec
from upstream.errors import IngestionError, Problem
from upstream.flaws import Flaws
from upstream.raw_rows import raw_rows_sql, write_out_exponents
from upstream.reading import ColumnReader, Outcome, reader_of
from upstream.reading_sql import quoted, reading_steps
from upstream.report import ColumnReport
from upstream.row_hash import field_sql
from upstream.sources import SourceFile

READING_LAYERS = ("present", "readable", "parsed", "value", "outcome")
_REFUSED = f"{Outcome.UNREADABLE:d}, {Outcome.NULL_REFUSED:d}"
_REPORTED = (Outcome.CLAMPED, Outcome.TO_OTHER, Outcome.TO_NULL)


@dataclass(frozen=True, slots=True)
class StagedTable:
    """A table's typed rows, in the temporary table ``staged_<name>``.

    Its columns: ``uid`` (canonical unit id), ``message`` (the hash's fields up to the
    occurrence number), then ``v0``, ``v1``, ... of the stored columns by position in
    the manifest. A public table has no uid, no message, and ``position`` instead.
    """

    table: TableSpec
    rows_read: int
    rows_without_unit: int
    columns: tuple[ColumnReport, ...]

    @property
    def relation(self) -> str:
        """The temporary table's quoted name."""
        return f'temp."staged_{self.table.name}"'

    def stored(self) -> list[tuple[int, str]]:
        """Return position and declared name of each stored column."""
        return stored_positions(self.table)


def stored_positions(table: TableSpec) -> list[tuple[int, str]]:
    """Return position in the manifest and name of each column that is stored."""
    return [
        (i, c.name) for i, c in enumerate(table.columns) if c.name != table.unit_column
    ]


def stage(
    connection: duckdb.DuckDBPyConnection,
    table: TableSpec,
    files: Sequence[SourceFile],
    unit_type: UnitType,
) -> StagedTable:
    """Read, type and check a table's rows.

    Raises:
        IngestionError: Values that cannot be read, with file, line and field.
    """
    raw, read = f'temp."raw_{table.name}"', f'temp."read_{table.name}"'
    _load_raw(connection, raw, table, files)
    _map_unusual_ids(connection, raw, table, unit_type)
    readers = {i: reader_of(table.columns[i]) for i, _ in stored_positions(table)}
    connection.execute(
        f"CREATE TEMP TABLE {read} AS {_typed_sql(raw, table, readers, unit_type)}"
    )
    counts = _Counts(connection, read, list(readers))
    if counts.refused:
        flaws = Flaws(table, files, readers, unit_type)
        raise IngestionError(flaws.problems(connection, read))
    staged = StagedTable(
        table=table,
        rows_read=counts.rows,
        rows_without_unit=0 if table.public else counts.rows_without_unit,
        columns=tuple(counts.report(i, name) for i, name in stored_positions(table)),
    )
    _keep_rows_with_unit(connection, read, staged)
    connection.execute(f"DROP TABLE {raw}; DROP TABLE {read}; DROP TABLE temp.ids")
    return staged


def _load_raw(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    table: TableSpec,
    files: Sequence[SourceFile],
) -> None:
    """Load the texts; refuse if DuckDB saw other rows than the strict pass did."""
    position = "row_number() OVER ()" if table.public else "0"
    query = f"SELECT *, {position} AS position FROM ({raw_rows_sql(table, files)})"  # noqa: S608 - quoted names and paths
    try:
        connection.execute(f"CREATE TEMP TABLE {raw} AS {query}")
    except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
        raise IngestionError((_unread(table, files),)) from error
    write_out_exponents(connection, raw, table, files)
    seen = dict(
        connection.execute(f"SELECT file, count(*) FROM {raw} GROUP BY file").fetchall()  # noqa: S608 - as above
    )
    for number, file in enumerate(files):
        if isinstance(file, CsvFile) and seen.get(number, 0) != file.records:
            raise IngestionError((_unread(table, [file]),))


def _unread(table: TableSpec, files: Sequence[SourceFile]) -> Problem:
    name = ", ".join(file.path.name for file in files)
    sentence = f"table {table.name} cannot be read: write the file as plain CSV anew"
    return Problem(name, None, None, sentence)


def _map_unusual_ids(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    table: TableSpec,
    unit_type: UnitType,
) -> None:
    """Spell in Python the ids that SQL does not: table ``ids`` (raw, uid, valid)."""
    unusual: list[tuple[str]] = []
    if table.unit_column is not None:
        unit = _unit_text(table)
        unusual = connection.execute(
            f"SELECT DISTINCT {unit} FROM {raw} "  # noqa: S608 - quoted texts
            f"WHERE {unit} IS NOT NULL AND NOT {plain_id_sql(unit, unit_type)}"
        ).fetchall()
    texts = [text for (text,) in unusual]
    spelled = [_spelled(text, unit_type) for text in texts]
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE temp.ids AS SELECT unnest(?::VARCHAR[]) AS raw, "
        "unnest(?::VARCHAR[]) AS uid, unnest(?::BOOLEAN[]) AS valid",
        [texts, [uid for uid, _ in spelled], [valid for _, valid in spelled]],
    )


def _spelled(text: str, unit_type: UnitType) -> tuple[str | None, bool]:
    try:
        return canonical_unit_id(text, unit_type), True
    except UnitIdError:
        return None, False


def _unit_text(table: TableSpec) -> str:
    """Return the expression of the unit column's text, NULL where it stands for it."""
    index = [c.name for c in table.columns].index(str(table.unit_column))
    nulls = ", ".join(quoted(text) for text in table.columns[index].null_values)
    return f"CASE WHEN r{index} IN ({nulls or 'NULL'}) THEN NULL ELSE r{index} END"


def _typed_sql(
    raw: str, table: TableSpec, readers: Mapping[int, ColumnReader], unit_type: UnitType
) -> str:
    """Return the query of typed values ``v<i>``, their outcomes ``s<i>`` and ids."""
    layer = _with_ids(raw, table, unit_type)
    steps = {i: reading_steps(reader, i) for i, reader in readers.items()}
    for letter, name in zip("nfpvs", READING_LAYERS, strict=True):
        added = "".join(
            f", {getattr(s, name)} AS {letter}{i}" for i, s in steps.items()
        )
        layer = f"SELECT *{added} FROM ({layer})"  # noqa: S608 - quoted texts
    fields = [quoted(table.name), "uid", *(f"r{i}" for i in range(len(table.columns)))]
    message = "''" if table.public else " || ".join(field_sql(f) for f in fields)
    kept = "".join(f", v{i}, s{i}" for i in readers)
    return (
        f"SELECT file, row, position, uid, valid_id, {message} AS message{kept} "  # noqa: S608 - as above
        f"FROM ({layer})"
    )


def _with_ids(raw: str, table: TableSpec, unit_type: UnitType) -> str:
    if table.unit_column is None:
        return f"SELECT *, '' AS uid, true AS valid_id FROM {raw}"  # noqa: S608 - quoted
    plain = f"{plain_id_sql('raw_id', unit_type)}"
    return (
        f"SELECT t.*, CASE WHEN {plain} THEN {plain_sql('raw_id', unit_type)} "  # noqa: S608 - quoted texts
        "ELSE ids.uid END AS uid, coalesce(ids.valid, true) AS valid_id "
        f"FROM (SELECT *, {_unit_text(table)} AS raw_id FROM {raw}) AS t "
        "LEFT JOIN temp.ids AS ids ON ids.raw = t.raw_id"
    )


class _Counts:
    """How many rows and values met each outcome, counted in one pass."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, read: str, positions: list[int]
    ) -> None:
        wanted = ["count(*)", "count(*) FILTER (uid IS NULL AND valid_id)"]
        refused = ["NOT valid_id", *(f"s{i} IN ({_REFUSED})" for i in positions)]
        wanted.append(f"count(*) FILTER ({' OR '.join(refused)})")
        self._keys = [(i, outcome) for i in positions for outcome in _REPORTED]
        wanted += [
            f"count(*) FILTER (uid IS NOT NULL AND s{i} = {outcome:d})"
            for i, outcome in self._keys
        ]
        row = connection.execute(f"SELECT {', '.join(wanted)} FROM {read}").fetchone()  # noqa: S608 - our own names
        self.rows, self.rows_without_unit, self.refused, *rest = row or ()
        self._found = dict(zip(self._keys, rest, strict=True))

    def report(self, position: int, name: str) -> ColumnReport:
        """Return one column's report."""
        return ColumnReport(
            name=name,
            clamped=self._found[position, Outcome.CLAMPED],
            to_other=self._found[position, Outcome.TO_OTHER],
            to_null=self._found[position, Outcome.TO_NULL],
        )


def _keep_rows_with_unit(
    connection: duckdb.DuckDBPyConnection, read: str, staged: StagedTable
) -> None:
    values = "".join(f", v{i}" for i, _ in staged.stored())
    connection.execute(
        f"CREATE TEMP TABLE {staged.relation} AS "  # noqa: S608 - our own names
        f"SELECT position, uid, message{values} FROM {read} WHERE uid IS NOT NULL"
    )
