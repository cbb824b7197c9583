"""From staged rows to a stored private table, each step within one unit.

Order (docs/proofs/ingestion.md): row hashes; constants take the value of the unit's
row of rank 1; keys are made unique; the row bound; ranks; derived columns. The row of
rank 1 has the least hash, so no later step drops it. Buckets hold whole units, so each
is done by itself; taken in the order of unit keys, they make a table in that order.
"""

from dataclasses import dataclass
from typing import Literal

import duckdb

from upstream.errors import IngestionError
from upstream.files.reading_sql import STORED_TYPES
from upstream.ingestion.derived_values import DerivedValues
from upstream.ingestion.doubles import TWO_ROWS, Doubles
from upstream.progress import ProgressStep
from upstream.staging.report import TableReport
from upstream.staging.row_hash import field_sql, row_hash_sql
from upstream.staging.staging import StagedTable, StagingArea
from upstream.staging.units import collision

_BY_HASH = "PARTITION BY unit_key ORDER BY row_hash"


@dataclass(slots=True)
class _RowCounts:
    """What the buckets did, added up."""

    kept: int = 0
    units: int = 0
    deduplicated: int = 0
    over_bound: int = 0
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class PrivateTable:
    """A staged private table on its way into the snapshot."""

    area: StagingArea
    staged: StagedTable
    derived: DerivedValues | None = None

    def store(self) -> TableReport:
        """Create and fill the stored table ``<name>`` and return its report.

        Raises:
            IngestionError: Two rows of one unit have the same hash.
        """
        self._create()
        counts = _RowCounts()
        buckets = self.staged.buckets()
        equal_rows = Doubles(self.area.connection, self.staged).find(buckets)
        for done, rows in enumerate(buckets):
            bucket = _Bucket(
                self.area.connection,
                self.staged,
                self.derived,
                doubled=equal_rows > 0,
            )
            self._tell("rank", done, len(buckets))
            bucket.rank(rows, counts)
            self._tell("write", done, len(buckets))
            bucket.write()
        self._tell("write", 1, 1)
        return TableReport(
            name=self.staged.table.name,
            rows_read=self.staged.rows_read,
            rows_kept=counts.kept,
            units=counts.units,
            dropped_null_unit=self.staged.rows_without_unit,
            deduplicated=counts.deduplicated,
            dropped_over_bound=counts.over_bound,
            constants_replaced=counts.replaced,
            columns=(
                *self.staged.columns,
                *(self.derived.reports() if self.derived else ()),
            ),
            equal_rows=equal_rows,
        )

    def _tell(self, phase: Literal["rank", "write"], done: int, buckets: int) -> None:
        total = max(1, self.staged.rows_read)
        done_rows = total * done // max(1, buckets)
        name = self.staged.table.name
        self.area.progress(ProgressStep(phase, name, done_rows, total, "rows"))

    def _create(self) -> None:
        table = self.staged.table
        declared = "".join(
            f', "{name}" {STORED_TYPES[table.columns[i].type]}'
            for i, name in self.staged.stored()
        )
        declared += self.derived.declared() if self.derived else ""
        self.area.connection.execute(
            f'CREATE TABLE snapshot."{table.name}" (unit_key BIGINT NOT NULL, '
            f"row_hash BIGINT NOT NULL, row_rank INTEGER NOT NULL{declared})"
        )


@dataclass(frozen=True, slots=True)
class _Bucket:
    """Whole units of one table, from staged rows to stored ones."""

    connection: duckdb.DuckDBPyConnection
    staged: StagedTable
    derived: DerivedValues | None
    doubled: bool

    def rank(self, rows: str, counts: _RowCounts) -> None:
        """Make ``temp.numbered``: the rows with hash and place within their unit.

        Args:
            rows: The relation of the staged rows.
            counts: Gains what happened.
        """
        self._hash_rows(rows)
        counts.replaced += self._make_constants()
        before, unique, bounded, units = self._mark_kept_rows()
        counts.deduplicated += before - unique
        counts.over_bound += unique - bounded
        counts.kept += bounded
        counts.units += units

    def _numbers(self, wanted: str, relation: str) -> tuple[int, ...]:
        row = self.connection.execute(f"SELECT {wanted} FROM {relation}").fetchone()  # noqa: S608 - our own names
        return tuple(row or ())

    def _values(self) -> str:
        return "".join(f", v{i}" for i, _ in self.staged.stored())

    def _hash_rows(self, rows: str) -> None:
        """Make ``temp.hashed``: each row's hash by its occurrence number."""
        query = f"SELECT unit_key, first_hash AS row_hash{self._values()} FROM {rows}"  # noqa: S608 - our own names
        if self.doubled:
            query += " ANTI JOIN temp.messages USING (unit_key, first_hash) UNION ALL "
            query += self._counted_apart(rows)
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE temp.hashed AS {query}")
        if self.doubled:
            self._refuse_collisions()

    def _counted_apart(self, rows: str) -> str:
        number = field_sql("CAST(occurrence AS VARCHAR)")
        return (
            f"SELECT unit_key, {row_hash_sql('message', number)} AS row_hash"  # noqa: S608 - our own names
            f"{self._values()} FROM (SELECT *, row_number() OVER ("
            f"PARTITION BY unit_key, first_hash) AS occurrence FROM {rows} "
            "JOIN temp.messages USING (unit_key, first_hash))"
        )

    def _refuse_collisions(self) -> None:
        all_rows, apart = self._numbers(
            "(SELECT count(*) FROM temp.hashed), count(*)",
            "(SELECT DISTINCT unit_key, row_hash FROM temp.hashed)",
        )
        if all_rows != apart:
            raise IngestionError((collision(TWO_ROWS),))

    def _make_constants(self) -> int:
        """Give constant columns their unit's first value; return how many changed."""
        columns = self.staged.table.columns
        constant = [i for i, _ in self.staged.stored() if columns[i].constant_in_unit]
        if not constant:
            return 0
        firsts = "".join(
            f", first_value(v{i}) OVER ({_BY_HASH}) AS first{i}" for i in constant
        )
        changed = " + ".join(
            f"count(*) FILTER (first{i} IS DISTINCT FROM v{i})" for i in constant
        )
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE temp.firsts AS SELECT *{firsts} "  # noqa: S608 - our own names
            "FROM temp.hashed"
        )
        (replaced,) = self._numbers(changed, "temp.firsts")
        values = ", ".join(f"first{i} AS v{i}" for i in constant)
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE temp.hashed AS SELECT * REPLACE ({values}) "  # noqa: S608 - as above
            "FROM temp.firsts; DROP TABLE temp.firsts"
        )
        return replaced

    def _mark_kept_rows(self) -> tuple[int, ...]:
        """Number rows within key and unit.

        Returns:
            Rows before; rows after the key; rows after the bound; units.
        """
        table = self.staged.table
        position = {name: i for i, name in self.staged.stored()}
        keys = "".join(f", v{position[k]}" for k in table.key if k in position)
        within_key = f"PARTITION BY unit_key{keys} ORDER BY row_hash"
        turn = f"row_number() OVER ({within_key})" if table.key else "1"
        rows = f"SELECT *, {turn} AS turn FROM temp.hashed"  # noqa: S608 - our own names
        order = "row_hash"
        if table.keep is not None:
            order = f"v{position[table.keep.first_by]} NULLS LAST, row_hash"
        self.connection.execute(
            "CREATE OR REPLACE TEMP TABLE temp.numbered AS SELECT *, row_number() OVER "  # noqa: S608 - as above
            f"(PARTITION BY unit_key ORDER BY {order}) AS place FROM ({rows}) "
            "WHERE turn = 1"
        )
        bounded = f"count(*) FILTER (place <= {table.max_rows_per_unit})"
        wanted = f"count(*), {bounded}, count(DISTINCT unit_key)"
        before = self._numbers("count(*)", "temp.hashed")
        return before + self._numbers(wanted, "temp.numbered")

    def write(self) -> None:
        """Store the rows in the order of unit keys and ranks, not of the source."""
        table = self.staged.table
        rank = "place" if table.keep is None else f"row_number() OVER ({_BY_HASH})"
        kept = (
            f"(SELECT unit_key, row_hash, {rank} AS row_rank{self._values()} "  # noqa: S608 - our own names
            f"FROM temp.numbered WHERE place <= {table.max_rows_per_unit})"
        )
        if self.derived is None:
            self.connection.execute(
                f'INSERT INTO snapshot."{table.name}" '  # noqa: S608 - as above
                f"SELECT * FROM {kept} ORDER BY unit_key, row_rank"
            )
        else:
            self.derived.store(kept)
        self.connection.execute("DROP TABLE temp.numbered; DROP TABLE temp.hashed")
