"""Public metadata: what everyone may know about a dataset before any answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

Scalar = int | Decimal | date | datetime | str | bool
"""A public value. Integers are int, decimals Decimal, text str."""


class ColumnType(StrEnum):
    """The types of CONTRACT 1."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TEXT = "text"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class RangeDomain:
    """Every value from ``minimum`` to ``maximum``, both included."""

    minimum: Scalar
    maximum: Scalar


@dataclass(frozen=True, slots=True)
class ValuesDomain:
    """A declared list, in declared order; ``other`` stands for all the rest.

    ``values`` never holds ``"other"`` itself when ``other`` is declared.
    """

    values: tuple[Scalar, ...]
    other: bool = False

    def all_values(self) -> tuple[Scalar, ...]:
        """Return the values as cells are made of them, ``other`` last."""
        return (*self.values, OTHER) if self.other else self.values


@dataclass(frozen=True, slots=True)
class HierarchyDomain:
    """The codes of a hierarchy: ``icd10``, ``icd10cm``, ``icd9cm``, or an own one."""

    name: str


Domain = RangeDomain | ValuesDomain | HierarchyDomain
OTHER = "other"


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A custodian's own hierarchy, public, in the order of its file.

    Attributes:
        levels: Names of the levels.
        codes: For each code, its value on each level, in the order of ``levels``.
    """

    name: str
    levels: tuple[str, ...]
    codes: Mapping[str, tuple[str | None, ...]]


NOBODY = -(2**63)
"""A stored unit key that no unit has: loading refuses it. Joins hold one row of it."""

DEFAULT_MAX_LENGTH = 1_000
"""Bytes of UTF-8 that a value of a text column may have where nothing is declared."""

DEFAULT_MAX_ROWS = 5_000_000
"""Rows that a table may have where nothing is declared."""

DEFAULT_MAX_PUBLIC_ROWS = 100_000
"""Rows that a public table may have where nothing is declared."""

DEFAULT_MAX_UNITS = 1_000_000
"""Units that a population may have where nothing is declared."""


MOST_LISTED_ROWS = 1_000
"""Rows of a public table whose rows are part of the schema."""

MOST_LISTED_BYTES = 2**18
"""Of those rows, as JSON."""

_LISTED_TYPES = frozenset(
    {ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.DATE, ColumnType.TEXT}
)

ListedRow = tuple[Scalar | None, ...]
"""A row of a public table, as everybody may read it."""


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column.

    ``scale`` is the number of decimals of a DECIMAL, else 0; ``max_length`` the most
    bytes of UTF-8 that a value of a TEXT has, enforced row by row at ingestion.
    ``expression`` is what a load computes the column by; None: the files have it.
    """

    name: str
    type: ColumnType
    scale: int = 0
    nullable: bool = True
    constant_in_unit: bool = False
    domain: Domain | None = None
    max_length: int = DEFAULT_MAX_LENGTH
    expression: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table: private (with a unit column and a row bound) or public.

    ``key`` is unique within the unit (private) or in the whole table (public);
    ``fan_out`` says how many rows of a public table share values of some columns;
    ``max_rows`` is the most rows that the whole table has. All of it is verified when
    the data is loaded. A public table that is ``listed`` is shown whole: ``rows`` are
    those of the snapshot, in its order, a value for each column (ADR 72).
    """

    name: str
    columns: tuple[Column, ...]
    unit_column: str | None = None  # None: public
    max_rows_per_unit: int | None = None  # None: public
    key: tuple[str, ...] = ()
    fan_out: tuple[tuple[tuple[str, ...], int], ...] = ()  # public: columns, most rows
    max_rows: int = DEFAULT_MAX_ROWS
    listed: bool = False
    rows: tuple[ListedRow, ...] = field(default=(), hash=False, repr=False)

    @property
    def is_public(self) -> bool:
        """Whether the table holds no private rows."""
        return self.unit_column is None

    def column(self, name: str) -> Column | None:
        """Return the column of that name, or None."""
        return next((c for c in self.columns if c.name == name), None)

    def domain_of(self, number: int) -> Domain | None:
        """Return a column's domain: of a listed table its values, if none is declared.

        Of numbers, too, whose declared range says less. They are sorted, so that ORDER
        BY such a column has the order that SQL has.
        """
        column = self.columns[number]
        is_listed = isinstance(column.domain, ValuesDomain | HierarchyDomain)
        if is_listed or column.type not in _LISTED_TYPES:
            return column.domain
        found = {row[number] for row in self.rows}
        values = [value for value in found if value is not None]
        values.sort()  # of one type
        return ValuesDomain(tuple(values)) if values else column.domain


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a population is divided, by a fact of a unit that never changes.

    ``column`` holds it in each row of each of ``tables``, all private, of which the
    first has a row of every unit; ``values`` are all that there may be. Verified row by
    row when data is loaded, and against all that was loaded before.
    """

    column: str
    tables: tuple[str, ...]
    values: tuple[int | str, ...]

    def names(self) -> tuple[str, ...]:
        """Return what each block is called: its value as text."""
        return tuple(map(str, self.values))


@dataclass(frozen=True, slots=True)
class Dataset:
    """Named tables over one population; everything here is public.

    ``unit`` is the population's word for its privacy unit, e.g. ``"patient"``;
    ``max_units`` the most units that the population has, verified when data is loaded.
    ``sizes_are_held`` tells whether rows were loaded by a version that holds them to
    ``max_units``, ``max_rows`` and ``max_length``: else no cost follows from these.
    ``blocks`` says how the population is divided, where it is.
    """

    name: str
    population: str
    unit: str
    snapshot_date: date
    tables: Mapping[str, Table]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    max_units: int = DEFAULT_MAX_UNITS
    sizes_are_held: bool = True
    blocks: Blocks | None = None

    def with_rows(self, rows: Mapping[str, tuple[ListedRow, ...]]) -> "Dataset":
        """Return the dataset with the rows of its listed tables."""
        tables = {
            name: replace(table, rows=rows.get(name, ()))
            for name, table in self.tables.items()
        }
        return replace(self, tables=tables)
