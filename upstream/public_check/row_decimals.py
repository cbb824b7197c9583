"""Decimals that one unit alone has in a private column, among what everybody may read.

Results of a laboratory and amounts of bills are no ids, yet a list of them with four
decimals is a list of single patients. They are compared as numbers, apart by how many
decimals they have: the fewer, the more are anybody's.
``upstream.public_check.row_evidence`` decides which are no accident.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import duckdb

from upstream.id_forms.amounts import MOST_DECIMALS, amount_sql
from upstream.public_check.published_ids import HANDFUL, Published, Texts
from upstream.public_check.row_evidence import LEAST_TOGETHER, Shared, Spread
from upstream.public_check.row_values import (
    ONE_UNIT,
    DecimalColumn,
    Found,
    first_found,
)

_LOOKED_AT = 200_000  # values of a private column whose spread is found out
_NO_SPREAD = Spread(1, 0)  # of so many decimals that none is looked at: by accident
_CELLS, _HITS = "row_decimals", "row_decimal_hits"
_COUNTS = (
    f"count(*), count(DISTINCT {_HITS}.value), "
    "coalesce(CAST(sum(uses) AS BIGINT), 0), "
    "coalesce(CAST(sum(uses) FILTER (uses > 1) AS BIGINT), 0)"
)

Kind = tuple[int, int]
"""A part, and how many decimals."""


@dataclass(slots=True)
class RowDecimals:
    """The search for decimals of single units.

    Attributes:
        connection: As of ``PublishedIds``.
        texts: What was added, by its number in the table of it.
    """

    connection: duckdb.DuckDBPyConnection
    texts: list[Texts] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Have the table, empty."""
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_CELLS} "
            "(part INTEGER, decimals INTEGER, whole HUGEINT)"
        )

    def add(self, published: Published, dataset: str = "") -> None:
        """Add texts that are decimals and not whole, but what was declared to coincide.

        Args:
            published: The texts.
            dataset: Which dataset has published them, if it is another one.
        """
        of = f" of dataset {dataset}" if dataset else ""
        for texts in published:
            if not (texts.numbers_coincide or texts.are_names):
                part = len(self.texts)
                self.texts.append(replace(texts, place=texts.place + of))
                self.connection.execute(
                    f"INSERT INTO temp.{_CELLS} SELECT DISTINCT {part}, "  # noqa: S608 - our own names
                    "length(places), TRY_CAST(concat(ones, "
                    f"rpad(places, {MOST_DECIMALS}, '0')) AS HUGEINT) FROM ("
                    "SELECT split_part(n, '.', 1) AS ones, "
                    "rtrim(split_part(n, '.', 2), '0') AS places FROM ("
                    f"SELECT {amount_sql('t')} AS n FROM ({texts.rows}))) "
                    "WHERE places <> ''"
                )

    def found_in(self, columns: Sequence[DecimalColumn]) -> list[Found]:
        """Return which parts hold decimals of single units, with the first column."""
        some = self.connection.execute(f"SELECT 1 FROM temp.{_CELLS} LIMIT 1")  # noqa: S608 - our own name
        if not some.fetchone():
            return []
        parts = ((column.column, self._parts_of(column)) for column in columns)
        return first_found(self.texts, parts)

    def _parts_of(self, column: DecimalColumn) -> list[int]:
        """Return the parts that name more than a handful of units, alone or together.

        A decimal of a public text is compared where the column has as many decimals.
        """
        step = 10 ** (MOST_DECIMALS - column.scale)
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_HITS} AS "  # noqa: S608 - our own names
            f"SELECT value * {step}::HUGEINT AS value, "
            f"count(DISTINCT unit_key) AS uses, {ONE_UNIT} "
            f"FROM ({column.rows}) WHERE value IN (SELECT whole // {step}::HUGEINT "
            f"FROM temp.{_CELLS} WHERE decimals <= {column.scale}) GROUP BY value"
        )
        try:
            if not self._are_many("true"):
                return []
            held, lies = self._held(), _Lies(lambda: self._spreads(column))
            of_units: dict[int, list[Kind]] = {}
            for kind, shared in held.items():
                if lies.are_of_units(kind[1], shared):
                    of_units.setdefault(kind[0], []).append(kind)
            alone = {p for p, kinds in of_units.items() if self._are_many(_of(kinds))}
            return sorted(alone | self._together(held, lies))
        finally:
            self.connection.execute(f"DROP TABLE temp.{_HITS}")

    def _held(self) -> Mapping[Kind, Shared]:
        found = self.connection.execute(
            f"SELECT part, decimals, {_COUNTS} FROM temp.{_CELLS} "  # noqa: S608 - our own names
            f"LEFT JOIN temp.{_HITS} ON value = whole GROUP BY part, decimals "
            f"HAVING count({_HITS}.value) > 0"
        )
        return {(part, n): Shared(*counts) for part, n, *counts in found.fetchall()}

    def _together(self, held: Mapping[Kind, Shared], lies: "_Lies") -> set[int]:
        """Return the parts whose few decimals each are of many units together.

        Counted are parts that hold little else of a kind, and each decimal once.
        """
        chosen = [
            k for k, one in held.items() if one.found >= LEAST_TOGETHER * one.cells
        ]
        if not chosen:
            return set()
        found = self.connection.execute(
            f"SELECT decimals, {_COUNTS} FROM (SELECT DISTINCT decimals, whole "  # noqa: S608 - our own names
            f"FROM temp.{_CELLS} WHERE {_of(chosen)}) "
            f"LEFT JOIN temp.{_HITS} ON value = whole GROUP BY decimals"
        )
        numbers = {
            n
            for n, *counts in found.fetchall()
            if lies.are_of_units(n, Shared(*counts))
        }
        kinds = [kind for kind in chosen if kind[1] in numbers]
        if not kinds or not self._are_many(_of(kinds)):
            return set()
        return {part for part, _ in kinds}

    def _are_many(self, chosen: str) -> bool:
        """Whether more than a handful of units are named, by all parts together."""
        found = self.connection.execute(
            f"SELECT count(DISTINCT unit) > {HANDFUL} FROM temp.{_CELLS} "  # noqa: S608 - our own names
            f"JOIN temp.{_HITS} ON value = whole WHERE {chosen}"
        ).fetchone()
        return bool(found and found[0])

    def _spreads(self, column: DecimalColumn) -> Mapping[int, Spread]:
        """Return how the column's values lie, by how many decimals they have.

        The outer tenth is left out: one great value does not make the others rare. Of
        very many values those of some hashes are looked at: memory is bounded.
        """
        rows = self.connection.execute(f"SELECT count(*) FROM ({column.rows})")  # noqa: S608 - our own query
        each = 1 + (rows.fetchone() or (0,))[0] // _LOOKED_AT
        text = "CAST(value AS VARCHAR)"
        zeros = f"length({text}) - length(rtrim({text}, '0'))"
        found = self.connection.execute(
            "SELECT decimals, count(*) FILTER (value BETWEEN low AND high), "  # noqa: S608 - our own names
            "any_value(high - low) FROM (SELECT *, "
            "quantile_disc(value, 0.05) OVER (PARTITION BY decimals) AS low, "
            "quantile_disc(value, 0.95) OVER (PARTITION BY decimals) AS high "
            f"FROM (SELECT DISTINCT value, {column.scale} - ({zeros}) AS decimals "
            f"FROM ({column.rows}) WHERE hash(value) % {each} = 0)) GROUP BY decimals"
        )
        return {
            n: Spread(each * values, int(width) // 10 ** (column.scale - n))
            for n, values, width in found.fetchall()
        }


@dataclass(slots=True)
class _Lies:
    """How a column's values lie: found out once it matters."""

    find_out: Callable[[], Mapping[int, Spread]]
    _spreads: Mapping[int, Spread] | None = None

    def are_of_units(self, decimals: int, shared: Shared) -> bool:
        """Whether what is shared, of so many decimals, is of units."""
        if shared.is_catalogue:
            return False
        if self._spreads is None:
            self._spreads = self.find_out()
        return shared.is_of_units(self._spreads.get(decimals, _NO_SPREAD))


def _of(kinds: Sequence[Kind]) -> str:
    """Return the condition of some parts' decimals."""
    return f"(part, decimals) IN ({', '.join(map(str, kinds))})"
