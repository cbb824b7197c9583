"""Relational nodes of a private plan.

Every row of every node has exactly one owner (unit), and the rows that a node gives
one owner are a function of that owner's input rows alone. ``rows_per_unit`` is the most
rows that one owner can have; neighbours add or remove all rows of one unit.
"""

from dataclasses import dataclass

from privacy.schema import Table
from query_lang.predicates import ColumnRef, Predicate


@dataclass(frozen=True, slots=True)
class Scan:
    """All rows of a private table, or those of rank up to ``max_rows`` in their unit.

    Attributes:
        table: The declared table; its row bound is enforced at ingestion.
        max_rows: A bound before filters (``row_rank <= max_rows``) that is lower than
            the declared one, or None.

    Proof: docs/proofs/scan.md.
    """

    table: Table
    unit_column: str
    declared_rows_per_unit: int
    max_rows: int | None = None

    @property
    def rows_per_unit(self) -> int:
        """The bound that applies: the request's, or the declared one."""
        return self.max_rows or self.declared_rows_per_unit


@dataclass(frozen=True, slots=True)
class Filter:
    """The child's rows for which the predicate is TRUE.

    Proof: docs/proofs/filter.md.
    """

    child: "Node"
    predicate: Predicate

    @property
    def rows_per_unit(self) -> int:
        """The child's: each row is kept or dropped by itself."""
        return self.child.rows_per_unit


@dataclass(frozen=True, slots=True)
class BoundContributions:
    """Keep, per unit, its first groups, then its first rows, by stored ``row_hash``.

    Groups of a unit are ordered by their least ``row_hash``; NULL keys make a group.

    Attributes:
        keys: The group keys of the aggregate above; a group is one tuple of them.
        max_groups: Groups that one unit keeps, or None.
        max_rows: Rows that one unit keeps over all its groups, or None.

    Proof: docs/proofs/bound_contributions.md.
    """

    child: "Node"
    keys: tuple[ColumnRef, ...]
    max_groups: int | None
    max_rows: int | None

    @property
    def rows_per_unit(self) -> int:
        """The smaller of the bound and the child's own."""
        own = self.child.rows_per_unit
        return own if self.max_rows is None else min(self.max_rows, own)


Node = Scan | Filter | BoundContributions


@dataclass(frozen=True, slots=True)
class CountRowsMeasure:
    """COUNT(*): one count of rows a group. Proof: docs/proofs/count.md."""


@dataclass(frozen=True, slots=True)
class CountUnitsMeasure:
    """COUNT(DISTINCT unit key): one count of units a group.

    Proof: docs/proofs/count_distinct.md.
    """


MeasureKind = CountRowsMeasure | CountUnitsMeasure


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """An output column that shows a group key."""

    name: str
    key: int  # index into the aggregate's keys


@dataclass(frozen=True, slots=True)
class MeasureColumn:
    """An output column that shows a measure."""

    name: str
    measure: int  # index into the aggregate's measures


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The top of a plan: measures per cell of the public keys.

    Attributes:
        child: Whose rows are counted.
        keys: In the order of GROUP BY; the first varies slowest in the answer.
        measures: The distinct vectors, each measured once.
        columns: The output, in the order of SELECT.
    """

    child: Node
    keys: tuple[ColumnRef, ...]
    measures: tuple[MeasureKind, ...]
    columns: tuple[KeyColumn | MeasureColumn, ...]


def scan_of(node: Node) -> Scan:
    """Return the scan at the bottom of a plan over one table."""
    while not isinstance(node, Scan):
        node = node.child
    return node
