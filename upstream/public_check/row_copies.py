"""Public tables whose rows are rows of single units in a private table.

A table of birth dates, postcodes and weights holds no value that one patient alone has,
and yet each of its rows is a patient's. So the rows of public tables are compared with
those of each private table of the load, by the columns that both have: of one name, two
at least, and of one type or of types that may hold the same (a text and a time). Once
more by those of one type alone, where these are fewer: what a text writes cannot always
be read; and by those of the files alone, where some are derived. Rows that one unit
alone has count, where more than a handful of units are named, where they are half of
the public rows or more, and where that is no accident
(``upstream.public_check.row_evidence``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import duckdb

from privacy.schema import Column, Dataset, Table
from upstream.errors import Problem
from upstream.public_check.published_ids import HANDFUL
from upstream.public_check.row_evidence import Shared
from upstream.public_check.row_values import (
    ONE_UNIT,
    PrivateRows,
    are_comparable,
    compared_sql,
    plain_name,
)

_LEAST_COLUMNS = 2
_LEAST_SHARE = 0.5  # of public rows
_LEAST_GRID = 0.5  # of all rows that can be made of the columns' values
_LEAST_EACH = 3  # rows of a value, on average, of a grid
_CELLS = "row_copies"


_Both = tuple[Column, Column]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A public table beside a private one.

    Attributes:
        place: What is public, in words.
        private: The private table's name.
        columns: The private columns that both have, each after the public one.
        cells: How many rows the public table has of these columns, each once.
        values: How many values each column has there.
    """

    place: str
    private: str
    columns: tuple[_Both, ...]
    cells: int
    values: tuple[int, ...]

    @property
    def has_derived(self) -> bool:
        """Whether one of the private columns is derived."""
        return any(other.expression is not None for _, other in self.columns)

    @property
    def is_grid(self) -> bool:
        """Whether most of what can be is there: a calendar of wards and days.

        Each value stands in several rows, so that dates of birth by sex are none.
        """
        is_full = self.cells >= _LEAST_GRID * prod(self.values)
        return is_full and self.cells >= _LEAST_EACH * max(self.values)


@dataclass(frozen=True, slots=True)
class CopiedRows:
    """A public table that holds rows of a private one."""

    place: str
    rows: PrivateRows
    columns: tuple[str, ...]


@dataclass(slots=True)
class RowCopies:
    """The search for public tables that are copies of private rows.

    Attributes:
        connection: As of ``PublishedIds``.
        schema: What the load declares.
    """

    connection: duckdb.DuckDBPyConnection
    schema: Dataset
    _pairs: list[_Pair] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Have the table, empty."""
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_CELLS} (pair INTEGER, cell UBIGINT)"
        )

    def add(
        self, table: Table, database: str, coinciding: frozenset[str], dataset: str = ""
    ) -> None:
        """Add the rows of a public table.

        Args:
            table: What is declared of it.
            database: Which holds it.
            coinciding: Places whose numbers were declared to be no unit ids.
            dataset: Which dataset has published it, if it is another one.
        """
        of = f" of dataset {dataset}" if dataset else ""
        names = [c for c in table.columns if f"{table.name}.{c.name}" not in coinciding]
        for private in self.schema.tables.values():
            every = () if private.is_public else private.columns
            both = tuple(_common(names, every))
            of_files = tuple(one for one in both if one[1].expression is None)
            alike = (tuple(b for b in bs if _are_alike(*b)) for bs in (both, of_files))
            for columns in dict.fromkeys((both, of_files, *alike)):
                if len(columns) >= _LEAST_COLUMNS:
                    counts = self._insert(columns, f'{database}."{table.name}"')
                    place = f"{table.name}{of}"
                    self._pairs.append(_Pair(place, private.name, columns, *counts))

    def _insert(
        self, columns: Sequence[_Both], rows: str
    ) -> tuple[int, tuple[int, ...]]:
        """Keep the distinct rows of some columns; return how many, of which values."""
        pair = len(self._pairs)
        cell = _cell(
            [compared_sql(one, other, f'"{one.name}"') for one, other in columns]
        )
        self.connection.execute(
            f"INSERT INTO temp.{_CELLS} SELECT DISTINCT {pair}, {cell} FROM {rows}"  # noqa: S608 - declared identifiers
        )
        values = ", ".join(f'count(DISTINCT "{column.name}")' for column, _ in columns)
        counts = self.connection.execute(f"SELECT {values} FROM {rows}").fetchone()  # noqa: S608 - as above
        cells = self.connection.execute(
            f"SELECT count(*) FROM temp.{_CELLS} WHERE pair = {pair}"  # noqa: S608 - our own name
        ).fetchone()
        return (cells or (0,))[0], counts or ()

    def found_in(self, tables: Sequence[PrivateRows]) -> list[CopiedRows]:
        """Return which public tables hold rows of single units of which tables."""
        named = {rows.table: rows for rows in tables if rows.buckets}
        found: dict[tuple[str, str], CopiedRows] = {}
        for number, pair in enumerate(self._pairs):
            one = pair.place, pair.private
            if (
                pair.private in named
                and pair.has_derived == named[pair.private].has_derived
                and one not in found
                and not pair.is_grid
                and self._is_copy(number, pair, named[pair.private])
            ):
                columns = tuple(other.name for _, other in pair.columns)
                found[one] = CopiedRows(pair.place, named[pair.private], columns)
        return list(found.values())

    def _is_copy(self, number: int, pair: _Pair, rows: PrivateRows) -> bool:
        cell = _cell([compared_sql(b, a, rows.values[b.name]) for a, b in pair.columns])
        private = rows.query(f"{cell} AS cell")
        found = self.connection.execute(
            "SELECT count(*), count(*) FILTER (uses = 1), count(DISTINCT unit), "  # noqa: S608 - our own names
            "coalesce(CAST(sum(uses) AS BIGINT), 0), "
            "coalesce(CAST(sum(uses) FILTER (uses > 1) AS BIGINT), 0) FROM ("
            f"SELECT cell, count(DISTINCT unit_key) AS uses, {ONE_UNIT} "
            f"FROM ({private}) WHERE cell IN (SELECT cell FROM temp.{_CELLS} "
            f"WHERE pair = {number}) GROUP BY cell)"
        ).fetchone()
        cells, alone, units, uses, shared = found or (0, 0, 0, 0, 0)
        is_most = units > HANDFUL and alone >= _LEAST_SHARE * pair.cells
        return is_most and not Shared(pair.cells, cells, uses, shared).is_catalogue


def _common(columns: Sequence[Column], others: Sequence[Column]) -> Iterator[_Both]:
    """Yield the columns of one name and of types that may hold the same.

    With the other of each.
    """
    named = {plain_name(column.name): column for column in others}
    for column in columns:
        other = named.get(plain_name(column.name))
        if other is not None and are_comparable(column, other):
            yield column, other


def _are_alike(one: Column, other: Column) -> bool:
    return one.type is other.type


def _cell(values: Sequence[str]) -> str:
    return f"hash({', '.join(values)})"


def copy_refusal(found: CopiedRows, unit: str) -> Problem:
    """Return the refusal of a public table that holds rows of single units.

    Args:
        found: Which, and the private table.
        unit: What the units are called.
    """
    rows = found.rows
    columns, files = ", ".join(found.columns), ", ".join(rows.files)
    sentence = (
        f"most rows of {found.place} are, by {columns}, rows of {rows.table} that one "
        f"{unit} alone has, and cannot be public: whoever reads them reads about "
        f"single {unit}s. Write its file anew with the column {rows.unit_column} of "
        f"{files}; then declare the table's unit_column: {rows.unit_column} and "
        "max_rows_per_unit in place of public: true; or leave out what tells the "
        f"{unit}s apart. Where the rows coincide by accident alone, two persons may "
        "agree on not_unit_ids: true, with its source, for a column of it: that "
        "column is not compared"
    )
    return Problem("manifest", None, None, sentence)
