"""Derived columns of the rows that a table keeps, each within its declared domain.

They are computed last: of stored values of the row, and of the stored row of rank 1
that its unit has in another table, where what is read is the same in each of its rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from privacy.schema import ColumnType, Hierarchy
from query_lang.rendering.duckdb.public_values import render_public_values, value_column
from query_lang.rendering.fragments import Fragment, identifier
from upstream.files.reading import reader_of
from upstream.files.reading_sql import STORED_TYPES, stored_value_sql
from upstream.manifests.derived import DerivedColumn
from upstream.staging.report import ColumnReport
from upstream.staging.staging import StagedTable

_ROW = ("unit_key", "row_hash", "row_rank")
_TOLD = 6  # counts of a ``ColumnReport`` that are told of a derived column


class DerivedValues:
    """What is computed for one table, and what became of it so far."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        staged: StagedTable,
        columns: Sequence[DerivedColumn],
        own: Mapping[str, Hierarchy],
    ) -> None:
        """Compute nothing yet.

        Args:
            connection: It holds the tables that are stored before, as ``snapshot``.
            staged: The table.
            columns: Its derived columns, one at least.
            own: The manifest's own hierarchies.
        """
        self.connection = connection
        self.staged = staged
        self.columns = columns
        self._own = own
        self._met = [[0] * _TOLD for _ in columns]

    def declared(self) -> str:
        """Return the columns' part of CREATE TABLE, with a comma before each."""
        return "".join(
            f", {identifier(each.column.name)} {STORED_TYPES[each.column.type]}"
            for each in self.columns
        )

    def store(self, rows: str) -> None:
        """Store rows with their derived values, in the order of unit keys and ranks.

        Args:
            rows: The relation of rows to keep: ``unit_key``, ``row_hash``,
                ``row_rank`` and the stored values ``v<position>``.
        """
        stored = [f"v{place}" for place, _ in self.staged.stored()]
        slots = {slot for each in self.columns for slot in each.value.reads}
        computed = render_public_values(
            [each.value.expression for each in self.columns],
            Fragment(self._with_slots(rows)),
            frozenset(slots),
            kept=[*_ROW, *stored, *map(value_column, sorted(slots))],
            own=self._own,
        )
        names = ", ".join([*_ROW, *stored])
        values = ", ".join(self._value(n) for n in range(len(self.columns)))
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE temp.derived AS SELECT *, {values} "  # noqa: S608 - our own names
            f"FROM ({computed.sql})",
            list(computed.parameters),
        )
        self._count()
        made = ", ".join(f"d{n}" for n in range(len(self.columns)))
        self.connection.execute(
            f'INSERT INTO snapshot."{self.staged.table.name}" '  # noqa: S608 - as above
            f"SELECT {names}, {made} FROM temp.derived ORDER BY unit_key, row_rank; "
            "DROP TABLE temp.derived"
        )

    def reports(self) -> tuple[ColumnReport, ...]:
        """Return what became of the values of each column."""
        return tuple(
            replace(ColumnReport(each.column.name, *told), not_computed=failed)
            for each, (*told, failed) in zip(self.columns, self._met, strict=True)
        )

    def _with_slots(self, rows: str) -> str:
        """Return the rows with a column a slot that expressions read."""
        own, place = self.staged.table.name, {n: i for i, n in self.staged.stored()}
        read = {
            slot: at for each in self.columns for slot, at in each.value.reads.items()
        }
        others = sorted({table for table, _ in read.values()} - {own})
        alias = {name: f"o{number}" for number, name in enumerate(others)}
        slots = "".join(
            f", own.v{place[column]} AS {value_column(slot)}"
            if table == own
            else f", {alias[table]}.{identifier(column)} AS {value_column(slot)}"
            for slot, (table, column) in sorted(read.items())
        )
        joined = "".join(
            f" LEFT JOIN snapshot.{identifier(name)} {alias[name]} ON "
            f"{alias[name]}.unit_key = own.unit_key AND {alias[name]}.row_rank = 1"
            for name in others
        )
        return f"(SELECT own.*{slots} FROM {rows} own{joined})"  # noqa: S608 - our own names

    def _value(self, number: int) -> str:
        value = stored_value_sql(reader_of(self.columns[number].column), f"e{number}")
        return f"{value} AS d{number}"

    def _count(self) -> None:
        wanted = ", ".join(
            told
            for number in range(len(self.columns))
            for told in self._changes(number)
        )
        row = self.connection.execute(f"SELECT {wanted} FROM temp.derived").fetchone()  # noqa: S608 - as above
        for number, count in enumerate(row or ()):
            self._met[number // _TOLD][number % _TOLD] += count

    def _changes(self, number: int) -> tuple[str, ...]:
        """Return the counts of a ``ColumnReport``, in its order.

        The last is of values that could be computed of nothing: a text that is no day.
        """
        column, made, kept = self.columns[number].column, f"e{number}", f"d{number}"
        listed = column.domain is not None and column.domain.values is not None
        moved = f"count(*) FILTER ({kept} <> {made})"
        lost = f"count(*) FILTER ({made} IS NOT NULL AND {kept} IS NULL)"
        plain = column.type is ColumnType.TEXT and column.domain is None
        slots = sorted(self.columns[number].value.reads)
        read = [f"{value_column(slot)} IS NOT NULL" for slot in slots]
        return (
            "0" if listed else moved,
            moved if listed else "0",
            lost,
            lost if plain else "0",
            f"count({made})",
            f"count(*) FILTER ({' AND '.join([f'{made} IS NULL', *read])})",
        )
