"""Which block each unit of a load is in: the same in every row, table and snapshot.

A charge may leave a unit's block out only because its block is a fact of the unit, so
nothing is mended here: whatever differs refuses the load. Staged values are looked at,
before constants are made equal and rows are left out. Proof: docs/proofs/blocks.md.
"""

from collections.abc import Iterable

import duckdb

from privacy.schema import Blocks
from privacy.wording import counted
from query_lang.rendering.fragments import identifier
from upstream.errors import IngestionError, Problem
from upstream.staging.row_hash import (
    POPULATION_ID_BYTES,
    field_sql,
    hmac_hex_sql,
    message,
)
from upstream.staging.staging import StagedTable

MARK_BYTES = 2 * POPULATION_ID_BYTES
_FETCHED_ROWS = 10_000


class UnitBlocks:
    """The blocks of a load's units, as its tables have them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, blocks: Blocks) -> None:
        """See nothing yet.

        Args:
            connection: It has the load's units, as ``upstream.staging.units`` has them.
            blocks: As the manifest declares them.
        """
        self._connection = connection
        self._blocks = blocks
        connection.execute(
            "CREATE TEMP TABLE block_of "
            "(unit_key BIGINT, block VARCHAR, is_first BOOLEAN)"
        )

    def see_staged(self, staged: Iterable[StagedTable]) -> None:
        """Look at the tables whose files have the column, row by row."""
        for table in staged:
            places = {name: place for place, name in table.stored()}
            place = places.get(self._blocks.column)
            if table.table.name in self._blocks.tables and place is not None:
                for rows in table.buckets():
                    self._see(table.table.name, f"v{place}", rows)

    def see_derived(self, staged: Iterable[StagedTable]) -> None:
        """Look at the stored tables whose column a load computes, row by row."""
        for table in staged:
            name = table.table.name
            derived = [column.name for column in table.table.derived_columns]
            if name in self._blocks.tables and self._blocks.column in derived:
                column = identifier(self._blocks.column)
                self._see(name, column, f"snapshot.{identifier(name)}")

    def _see(self, table: str, value: str, rows: str) -> None:
        is_first = table == self._blocks.tables[0]
        self._connection.execute(
            "INSERT INTO temp.block_of SELECT DISTINCT unit_key, "  # noqa: S608 - our own names
            f"CAST({value} AS VARCHAR), {is_first} FROM {rows}"
        )

    def check(self, *, is_whole: bool) -> None:
        """Refuse units of two blocks, or of none.

        Args:
            is_whole: Whether all rows were read; of some files' first rows alone,
                nobody knows that a unit has no row.

        Raises:
            IngestionError: There are such units.
        """
        several = self._count(
            "(SELECT unit_key FROM temp.block_of GROUP BY unit_key "
            "HAVING count(DISTINCT block) > 1 OR count(*) > count(block))"
        )
        if several:
            raise IngestionError((self._several(several),))
        seen = "SELECT unit_key FROM temp.block_of WHERE is_first"
        lacking = self._count(
            "(SELECT DISTINCT unit_key FROM temp.people) people "  # noqa: S608 - as above
            f"ANTI JOIN ({seen}) USING (unit_key)"
        )
        if is_whole and lacking:
            raise IngestionError((self._lacking(lacking),))

    def _count(self, rows: str) -> int:
        found = self._connection.execute(f"SELECT count(*) FROM {rows}").fetchone()  # noqa: S608 - as above
        return int(found[0]) if found else 0

    def _several(self, units: int) -> Problem:
        column, tables = self._blocks.column, ", ".join(self._blocks.tables)
        sentence = (
            f"{counted(units, 'unit')} of the load {_have(units)} no single block: "
            f"{column} is the block that a unit is in for good, the same and not NULL "
            f"in each of its rows of {tables}: mend the files"
        )
        return Problem("snapshot", None, None, sentence)

    def _lacking(self, units: int) -> Problem:
        first = self._blocks.tables[0]
        sentence = (
            f"{counted(units, 'unit')} of the load {_have(units)} no row in {first}, "
            f"which says by {self._blocks.column} in which block each unit is: add "
            "the rows, or leave these units out of the other tables"
        )
        return Problem("snapshot", None, None, sentence)

    def marks(self) -> bytes:
        """Return two digests for each unit: that it has a block, and which.

        Of 16 bytes each, keyed as the population's ids are. Their messages have two
        and three fields, those of ids have one, so that none is another's.
        """
        has = _digest(message(["block"]), ["hex(digest)"])
        which = _digest(message(["block"]), ["hex(digest)", "block"])
        rows = self._connection.execute(
            f"SELECT DISTINCT {has}, {which} FROM temp.people "  # noqa: S608 - as above
            "JOIN temp.block_of USING (unit_key) WHERE is_first"
        )
        found = bytearray()
        while part := rows.fetchmany(_FETCHED_ROWS):
            found += b"".join(one + other for one, other in part)
        return bytes(found)


def _digest(start: bytes, fields: list[str]) -> str:
    texts = ", ".join(field_sql(each) for each in fields)
    hexadecimal = hmac_hex_sql("people", f"concat('{start.decode()}', {texts})")
    return f"unhex(left({hexadecimal}, {2 * POPULATION_ID_BYTES}))"


def _have(units: int) -> str:
    return "has" if units == 1 else "have"


def moved_units(marks: bytes, known: frozenset[bytes]) -> int:
    """Return how many units were loaded before in another block than now.

    Args:
        marks: Of the load.
        known: The population's digests, the marks of earlier loads among them.
    """
    each = (marks[at : at + MARK_BYTES] for at in range(0, len(marks), MARK_BYTES))
    return sum(
        pair[:POPULATION_ID_BYTES] in known and pair[POPULATION_ID_BYTES:] not in known
        for pair in each
    )
