"""The ids within public texts, as far as there are more than accident would hit."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from upstream.id_forms.coincidence import Shape, is_beyond_accident
from upstream.id_forms.embedded_ids import LEAST_DOTTED, embedded_ids, words_within
from upstream.staging.row_hash import population_id_sql

_LENGTH = "length(CASE WHEN alone THEN ltrim(digits, '0') ELSE digits END) AS length"
SHAPE = (
    f"alone, alone AND digits LIKE '0%' AND length(digits) >= 6 AS filled, {_LENGTH}"
)
"""A shape (``upstream.id_forms.coincidence``), from ``digits`` and ``alone``.

Words have their letters for digits, and their number below 0.
"""

_SHAPE_WITHIN = SHAPE.replace(" AS filled", " OR apart AS filled")
_NO_LETTERS = "regexp_full_match(form, '[-0-9]+')"


@dataclass(frozen=True, slots=True)
class EmbeddedIds:
    """What texts hold among other characters, in a table."""

    connection: duckdb.DuckDBPyConnection
    table: str = "embedded"

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Have a table for it."""
        self.connection.execute(
            f"CREATE TEMP TABLE {self.table} (part INTEGER, digest BLOB, form VARCHAR, "
            "digits VARCHAR, alone BOOLEAN, filled BOOLEAN, length BIGINT)"
        )
        try:
            yield
        finally:
            self.connection.execute(f"DROP TABLE temp.{self.table}")

    def collect(self, part: int, rows: str, *, letters_only: bool) -> None:
        """Add what the texts of a part hold.

        Args:
            part: Its number.
            rows: The query of its texts, column ``t``.
            letters_only: Whether numbers alone are left out.
        """
        lettered = f"WHERE NOT {_NO_LETTERS}" if letters_only else ""
        with embedded_ids(self.connection, rows) as name:
            self.connection.execute(
                f"INSERT INTO temp.{self.table} SELECT {part}, "  # noqa: S608 - our own query
                f"{population_id_sql('form')}, form, digits, {_SHAPE_WITHIN} "
                f"FROM {name} {lettered}"
            )
        with words_within(self.connection, rows) as words:
            self.connection.execute(
                f"INSERT INTO temp.{self.table} SELECT {part}, "  # noqa: S608 - as above
                f"{population_id_sql('form')}, form, form, false, false, -length(form) "
                f"FROM ({words})"
            )

    def collect_whole(self, part: int, forms: str) -> None:
        """Add whole texts of a part that count by the odds, as what texts hold does.

        A decimal's point may stand for another separator of an id: ``2019.0011`` for
        ``2019-0011``.

        Args:
            part: Its number.
            forms: The query of what they are, column ``form``.
        """
        digits = "regexp_replace(form, '[^0-9]', '', 'g')"
        parted = (
            "regexp_replace(replace(form, '.', '-'), '(^|-)0+([0-9])', '\\1\\2', 'g')"
        )
        is_parted = f"contains(form, '.') AND length({digits}) >= {LEAST_DOTTED}"
        both = f"unnest(CASE WHEN {is_parted} THEN [form, {parted}] ELSE [form] END)"
        self.connection.execute(
            f"INSERT INTO temp.{self.table} SELECT {part}, "  # noqa: S608 - our own query
            f"{population_id_sql('form')}, form, digits, {SHAPE} FROM ("
            f"SELECT {both} AS form, {digits} AS digits, form = {digits} AS alone "
            f"FROM ({forms}) WHERE regexp_matches(form, '[0-9]'))"
        )

    def on_purpose(self, name: str) -> str:
        """Return the query of the parts and digests that are too many by accident.

        Args:
            name: The table of the ids' digests.
        """
        if not self._count(f"SELECT count(*) FROM temp.{self.table}"):  # noqa: S608 - our own name
            return f"SELECT part, digest FROM temp.{self.table}"  # noqa: S608 - as above
        ids = self._count(f"SELECT count(DISTINCT digest) FROM temp.{name}")  # noqa: S608 - as above
        is_hit = f"digest IN (SELECT digest FROM temp.{name})"  # noqa: S608 - as above
        found = self.connection.execute(
            "SELECT part, alone, filled, length, count(DISTINCT digits), "  # noqa: S608 - as above
            f"count(DISTINCT digits) FILTER ({is_hit}) FROM temp.{self.table} "
            "GROUP BY GROUPING SETS "
            "((part, alone, filled, length), (alone, filled, length))"
        ).fetchall()
        chosen = [
            _condition(part, shape)
            for part, alone, filled, digits, trials, hits in found
            for shape in [Shape(digits, alone=alone, filled=filled)]
            if is_beyond_accident(hits, trials, shape.probability(ids))
        ]
        return (
            f"SELECT part, digest FROM temp.{self.table} "  # noqa: S608 - our own condition
            f"WHERE {' OR '.join(chosen) or 'false'}"
        )

    def _count(self, query: str) -> int:
        found = self.connection.execute(query).fetchone()
        return int(found[0]) if found else 0


def _condition(part: int | None, shape: Shape) -> str:
    where = "" if part is None else f"part = {part} AND "
    return (
        f"({where}alone = {shape.alone} AND filled = {shape.filled} "
        f"AND length = {shape.digits})"
    )
