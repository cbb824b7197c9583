"""Rows of one unit with equal texts: the few whose messages are read again.

Rows whose first hash is theirs alone in the unit have no equal, and keep it. For the
others, ``temp.messages`` gets the message by unit key and first hash, so that the
second, third, ... of equal rows can be hashed with their numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from upstream.errors import IngestionError, Problem
from upstream.files.reading_sql import quoted
from upstream.staging.row_hash import row_hash_sql
from upstream.staging.staged_files import planned_for_files
from upstream.staging.staging import StagedTable
from upstream.staging.units import collision

TWO_ROWS = "two rows of one unit"


@dataclass(frozen=True, slots=True)
class Doubles:
    """The search for a staged table's equal rows."""

    connection: duckdb.DuckDBPyConnection
    staged: StagedTable

    def find(self, buckets: Sequence[str]) -> int:
        """Return how many rows equal another; then ``temp.messages`` has theirs.

        The first of its equals is not counted.

        Raises:
            IngestionError: Rows of one unit share a hash but not their texts, or a
                file is no longer what it was when it was first read.
        """
        self.connection.execute(
            "CREATE OR REPLACE TEMP TABLE doubled "
            "(unit_key BIGINT, first_hash BIGINT, mark UBIGINT, marks BIGINT, "
            "more BIGINT)"
        )
        for rows in buckets:
            self.connection.execute(
                "INSERT INTO temp.doubled SELECT unit_key, first_hash, min(mark), "  # noqa: S608 - our own names
                f"count(DISTINCT mark), count(*) - 1 FROM {rows} "
                "GROUP BY unit_key, first_hash HAVING count(*) > 1"
            )
        if self._count("temp.doubled WHERE marks > 1"):
            raise IngestionError((collision(TWO_ROWS),))
        doubled = self._count("temp.doubled")
        if doubled:
            try:
                with planned_for_files(self.connection, ordered=False):
                    self._read_messages()
            except (duckdb.InvalidInputException, duckdb.IOException) as error:
                raise IngestionError((self._changed(),)) from error
            self._check(doubled)
        return self._count("temp.doubled", "coalesce(sum(more), 0)")

    def _count(self, relation: str, wanted: str = "count(*)") -> int:
        query = f"SELECT {wanted} FROM {relation}"  # noqa: S608 - our own names
        found = self.connection.execute(query).fetchone()
        return int(found[0]) if found else 0

    def _read_messages(self) -> None:
        """Make ``temp.messages``, in the order of keys: each bucket reads a part."""
        first = row_hash_sql("message", quoted("V1:1"))
        self.connection.execute(
            "CREATE OR REPLACE TEMP TABLE messages AS SELECT * FROM ("  # noqa: S608 - our own query
            f"SELECT unit_key, message, {first} AS first_hash FROM (SELECT DISTINCT "
            f"unit_key, message FROM ({self.staged.messages}) "
            "SEMI JOIN temp.doubled USING (unit_key, mark))) "
            "SEMI JOIN temp.doubled USING (unit_key, first_hash) ORDER BY unit_key"
        )

    def _check(self, doubled: int) -> None:
        """Require one message for each doubled hash."""
        messages = self._count("temp.messages")
        apart = "(SELECT DISTINCT unit_key, first_hash FROM temp.messages)"
        if messages > self._count(apart):
            raise IngestionError((collision(TWO_ROWS),))
        if messages < doubled:
            raise IngestionError((self._changed(),))

    def _changed(self) -> Problem:
        name = ", ".join(file.name for file in self.staged.files)
        sentence = "changed while it was read: load it again when it is finished"
        return Problem(name, None, None, sentence)
