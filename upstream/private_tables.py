"""From staged rows to a stored private table, each step within one unit.

Order (docs/proofs/ingestion.md): row hashes; constants take the value of the unit's
row of rank 1; keys are made unique; the row bound; ranks. The row of rank 1 has the
least hash, so no later step drops it.
"""

from dataclasses import dataclass

import duckdb

from upstream.errors import IngestionError, Problem
from upstream.reading_sql import STORED_TYPES
from upstream.report import TableReport
from upstream.row_hash import field_sql, first_64_bits_sql, hmac_hex_sql
from upstream.staging import StagedTable

_BY_HASH = "PARTITION BY unit_key ORDER BY row_hash"


@dataclass(frozen=True, slots=True)
class PrivateTable:
    """A staged private table on its way into the snapshot."""

    connection: duckdb.DuckDBPyConnection
    staged: StagedTable

    def store(self) -> TableReport:
        """Create and fill the stored table ``<name>`` and return its report.

        Raises:
            IngestionError: Two rows of one unit have the same hash.
        """
        self._hash_rows()
        replaced = self._make_constants()
        deduplicated, over_bound = self._mark_kept_rows()
        self._write()
        table = self.staged.table
        kept, units = self._numbers(
            "count(*), count(DISTINCT unit_key)", f'snapshot."{table.name}"'
        )
        return TableReport(
            name=table.name,
            rows_read=self.staged.rows_read,
            rows_kept=kept,
            units=units,
            dropped_null_unit=self.staged.rows_without_unit,
            deduplicated=deduplicated,
            dropped_over_bound=over_bound,
            constants_replaced=replaced,
            columns=self.staged.columns,
        )

    def _numbers(self, wanted: str, relation: str) -> tuple[int, ...]:
        row = self.connection.execute(f"SELECT {wanted} FROM {relation}").fetchone()  # noqa: S608 - our own names
        return tuple(row or ())

    def _values(self, prefix: str = "") -> str:
        return "".join(f", {prefix}v{i}" for i, _ in self.staged.stored())

    def _hash_rows(self) -> None:
        occurrence = field_sql("CAST(occurrence AS VARCHAR)")
        digest = hmac_hex_sql("row", f"message || {occurrence}")
        self.connection.execute(
            f"CREATE TEMP TABLE temp.hashed AS "  # noqa: S608 - our own names
            f"SELECT unit_key, {first_64_bits_sql(digest)} AS row_hash{self._values()} "
            "FROM (SELECT *, row_number() OVER (PARTITION BY sha256(encode(message))) "
            f"AS occurrence FROM {self.staged.relation}) JOIN temp.units USING (uid)"
        )
        self.connection.execute(f"DROP TABLE {self.staged.relation}")
        all_rows, apart = self._numbers(
            "(SELECT count(*) FROM temp.hashed), count(*)",
            "(SELECT DISTINCT unit_key, row_hash FROM temp.hashed)",
        )
        if all_rows != apart:
            raise IngestionError((collision("two rows of one unit"),))

    def _make_constants(self) -> int:
        """Give constant columns their unit's first value; return how many changed."""
        columns = self.staged.table.columns
        constant = [i for i, _ in self.staged.stored() if columns[i].constant_in_unit]
        if not constant:
            self.connection.execute("ALTER TABLE temp.hashed RENAME TO constant")
            return 0
        firsts = "".join(
            f", first_value(v{i}) OVER ({_BY_HASH}) AS first{i}" for i in constant
        )
        changed = " + ".join(
            f"count(*) FILTER (first{i} IS DISTINCT FROM v{i})" for i in constant
        )
        self.connection.execute(
            f"CREATE TEMP TABLE temp.firsts AS SELECT *{firsts} FROM temp.hashed"  # noqa: S608 - our own names
        )
        (replaced,) = self._numbers(changed, "temp.firsts")
        values = ", ".join(f"first{i} AS v{i}" for i in constant)
        self.connection.execute(
            f"CREATE TEMP TABLE temp.constant AS SELECT * REPLACE ({values}) "  # noqa: S608 - as above
            "FROM temp.firsts; DROP TABLE temp.firsts; DROP TABLE temp.hashed"
        )
        return replaced

    def _mark_kept_rows(self) -> tuple[int, int]:
        """Number rows within key and unit; return rows that key and bound drop."""
        table = self.staged.table
        position = {name: i for i, name in self.staged.stored()}
        keys = "".join(f", v{position[k]}" for k in table.key if k in position)
        within_key = f"PARTITION BY unit_key{keys} ORDER BY row_hash"
        turn = f"row_number() OVER ({within_key})" if table.key else "1"
        order = "row_hash"
        if table.keep is not None:
            order = f"v{position[table.keep.first_by]} NULLS LAST, row_hash"
        self.connection.execute(
            f"CREATE TEMP TABLE temp.numbered AS SELECT *, row_number() OVER ("  # noqa: S608 - our own names
            f"PARTITION BY unit_key ORDER BY {order}) AS place FROM ("
            f"SELECT *, {turn} AS turn FROM temp.constant) WHERE turn = 1"
        )
        unique, bounded = self._numbers(
            f"count(*), count(*) FILTER (place <= {table.max_rows_per_unit})",
            "temp.numbered",
        )
        (before,) = self._numbers("count(*)", "temp.constant")
        self.connection.execute("DROP TABLE temp.constant")
        return before - unique, unique - bounded

    def _write(self) -> None:
        """Store the rows in the order of unit keys and ranks, not of the source."""
        table = self.staged.table
        declared = "".join(
            f', "{name}" {STORED_TYPES[table.columns[i].type]}'
            for i, name in self.staged.stored()
        )
        self.connection.execute(
            f'CREATE TABLE snapshot."{table.name}" (unit_key BIGINT NOT NULL, '
            f"row_hash BIGINT NOT NULL, row_rank INTEGER NOT NULL{declared})"
        )
        rank = "place" if table.keep is None else f"row_number() OVER ({_BY_HASH})"
        self.connection.execute(
            f'INSERT INTO snapshot."{table.name}" '  # noqa: S608 - our own names
            f"SELECT unit_key, row_hash, {rank} AS row_rank"
            f"{self._values()} FROM temp.numbered "
            f"WHERE place <= {table.max_rows_per_unit} ORDER BY unit_key, row_rank"
        )
        self.connection.execute("DROP TABLE temp.numbered")


def collision(what: str) -> Problem:
    """Return the refusal of a 64-bit collision (odds below one in millions)."""
    sentence = (
        f"{what} have the same 64-bit hash: this cannot be mended in the files; "
        "load into an installation with another secret"
    )
    return Problem("snapshot", None, None, sentence)
