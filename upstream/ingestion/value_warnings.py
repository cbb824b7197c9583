"""What in the stored rows of a load looks like a slip, for the custodian alone."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

import duckdb

from privacy.schema import ColumnType
from privacy.wording import counted
from upstream.files.reading_sql import quoted
from upstream.files.usual_forms import WHITE_SPACE
from upstream.id_forms.identities import Described, second_identities
from upstream.manifests.declarations import ColumnSpec, TableSpec
from upstream.staging.report import ColumnReport, TableReport

_TIMES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_FAR = 10  # times as many rows as any unit has: a bound that costs noise
_FAR_ROWS = 1_000  # times as many rows as a table has
_MUCH_IN = 20  # of fewer lost values something else is said already
_DAY_AND_MONTH = ("%d/%m", "%m/%d", "%d-%m", "%m-%d")


def value_warnings(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[TableSpec],
    reports: Sequence[TableReport],
    snapshot_date: date,
) -> Iterator[str]:
    """Yield a sentence for each thing in stored rows that should be looked at.

    Args:
        connection: It holds the stored tables, as ``snapshot``.
        tables: What was declared.
        reports: What was done with each of them.
        snapshot_date: The day that the data are of.
    """
    last = min(snapshot_date, datetime.now(UTC).date())
    for table, report in zip(tables, reports, strict=True):
        stored = _Stored(connection, table)
        yield from stored.after(last)
        yield from _months_first(table, report)
        if not table.public:
            yield from stored.never_false()
            yield from stored.padded(report)
            yield from stored.far_bound(report)
            yield from stored.identities()


class _Stored:
    """A stored table, asked for what looks odd."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, table: TableSpec) -> None:
        self.connection = connection
        self.table = table
        self.columns = [c for c in table.columns if c.name != table.unit_column]

    def _answers(self, wanted: Sequence[str]) -> tuple[object, ...]:
        """Return what is computed of all rows; nothing of what cannot be.

        What would warn ends no load: its rows are read and written by now.
        """
        if not wanted:
            return ()
        sql = f'SELECT {", ".join(wanted)} FROM snapshot."{self.table.name}"'  # noqa: S608 - declared identifiers
        try:
            row = self.connection.execute(sql).fetchone()
        except duckdb.Error:
            row = None
        return row or (None,) * len(wanted)

    def after(self, last: date) -> Iterator[str]:
        """Yield the columns of days some of which nobody knew on the last day."""
        times = [c for c in self.columns if c.type in _TIMES]
        counts = self._answers(
            [
                f"count(*) FILTER (CAST(\"{c.name}\" AS DATE) > DATE '{last}')"
                for c in times
            ]
        )
        open_centuries = self._in_open_centuries(times)
        for column in open_centuries:
            yield (
                f"{self.table.name}.{column.name}: days before {column.century} are "
                "written with four digits, so years of two digits may be theirs too, "
                "and are read as a hundred years later: export all years with four "
                "digits"
            )
        for column, count in zip(times, counts, strict=True):
            if isinstance(count, int) and count and column not in open_centuries:
                yield (
                    f"{self.table.name}.{column.name}: {counted(count, 'row')} after "
                    f"{last} (the snapshot's date, or today if that is earlier): "
                    f"{_asked(column, last)}"
                )

    def _in_open_centuries(self, times: Sequence[ColumnSpec]) -> list[ColumnSpec]:
        """Return the columns some of whose days lie before their short years.

        These have four digits: no century says which of both the short years are of.
        """
        short = [c for c in times if c.century is not None]
        firsts = self._answers([f'min(year("{c.name}"))' for c in short])
        return [
            column
            for column, first in zip(short, firsts, strict=True)
            if isinstance(first, int) and first < (column.century or 0)
        ]

    def never_false(self) -> Iterator[str]:
        """Yield the truths that are true, or nothing, and never false."""
        truths = [c for c in self.columns if c.type is ColumnType.BOOLEAN]
        answers = self._answers(
            [f'bool_and("{c.name}") AND count("{c.name}") < count(*)' for c in truths]
        )
        for column, is_so in zip(truths, answers, strict=True):
            if is_so:
                yield (
                    f"{self.table.name}.{column.name}: is true or empty, and never "
                    "false: does an empty cell mean no? Then declare null_values: [] "
                    'and map: {"": false}, with the mark that means true'
                )

    def padded(self, report: TableReport) -> Iterator[str]:
        """Yield the columns without a domain, of which some texts end in blanks."""
        texts = [
            c
            for c in self.columns
            if c.type is ColumnType.TEXT and c.domain is None and not c.trim
        ]
        blanks = quoted(WHITE_SPACE)
        counts = self._answers(
            [
                f'count(*) FILTER ("{c.name}" <> rtrim("{c.name}", {blanks}))'
                for c in texts
            ]
        )
        for column, count in zip(texts, counts, strict=True):
            if isinstance(count, int) and count:
                yield (
                    f"{self.table.name}.{column.name}: {count} of "
                    f"{counted(report.rows_kept, 'row')} have blanks at the end of its "
                    "text, so 'A ' is another value than 'A': declare trim: true"
                )

    def far_bound(self, report: TableReport) -> Iterator[str]:
        """Yield that a bound is far beyond what any unit has: it costs noise."""
        (most,) = self._answers(["max(row_rank)"])
        bound = self.table.max_rows_per_unit or 0
        if isinstance(most, int) and bound >= _FAR * most and bound > _FAR:
            yield (
                f"{self.table.name}: no unit has a tenth of max_rows_per_unit, "
                f"{bound:,}, with which noise grows: if the protocol allows fewer, "
                "declare its number; not what these files happen to have"
            )
        if (self.table.max_rows or 0) > _FAR_ROWS * max(1, report.rows_kept):
            yield (
                f"{self.table.name}: max_rows is {self.table.max_rows:,}, more than a "
                f"thousand times the rows that there are: questions are weighed by it "
                "(too_costly); declare what the table may grow to"
            )

    def identities(self) -> Iterator[str]:
        """Yield the columns that tell units apart as their ids do."""
        columns = [
            Described(c.name, c.type, f'"{c.name}"')
            for c in self.columns
            if c.domain is None
        ]
        for name in second_identities("unit_key", columns, self._answers):
            yield (
                f"{self.table.name}.{name}: each unit has a value of its own, "
                "and nobody shares it: a second identity, such as a number of "
                "insurance or an address? Then leave the column out"
            )


def _asked(column: ColumnSpec, last: date) -> str:
    """Return what to do about days to come: short years may be of another century."""
    if column.century is not None:
        return (
            f"its years of two digits are those from {column.century} on; if none is "
            f"to come, as of births, declare century: {last.year - 99}"
        )
    return (
        "is it planned, or valid until then? If such a day stands for nothing, declare "
        "null_values; if it is a slip, mend it"
    )


def _months_first(table: TableSpec, report: TableReport) -> Iterator[str]:
    """Yield where few values are no days: others may be read month for day."""
    by_name = {column.name: column for column in report.columns}
    for column in table.columns:
        found = by_name.get(column.name)
        formats = [f for f in column.time_formats if f.startswith(_DAY_AND_MONTH)]
        if found is not None and formats and _is_a_few(found):
            twin = f"{formats[0][3:5]}{formats[0][2]}{formats[0][:2]}"
            yield (
                f"{table.name}.{column.name}: {counted(found.to_null, 'value')} no day "
                f"as {formats[0]}, and NULL: if they are written as {twin}, others of "
                "them that can be read either way are other days than they say"
            )


def _is_a_few(column: ColumnReport) -> bool:
    return 0 < column.to_null * _MUCH_IN <= column.values
