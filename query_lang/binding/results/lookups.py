"""What stands together in a row that a listed public table was joined to.

The table's rows are part of the schema (ADR 72), so that a region's code says what its
name and population are, whatever the private rows.

Proof: docs/proofs/dependent_keys.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from privacy.schema import ListedRow, Scalar
from query_lang.plans.expressions import (
    Expression,
    FieldRef,
    conjuncts,
    is_equality,
    is_same_value,
    slots_read,
)
from query_lang.plans.nodes import (
    BoundContributions,
    Compute,
    Filter,
    Node,
    PublicJoin,
    UnitJoin,
    Windowed,
)


@dataclass(frozen=True, slots=True)
class Lookup:
    """A listed table in a row that it was joined to, or NULL in all of its columns.

    Attributes:
        first: Slot of its first column; the others follow.
        rows: All that it has, but those that meet nothing.
        equated: Values of the row beside it that ON equates with its columns, and the
            columns' numbers.
        outer: Whether rows without a match stay.
        exact: Whether an equated value that the table has always meets a row of it.
    """

    first: int
    rows: tuple[ListedRow, ...]
    equated: tuple[tuple[Expression, int], ...]
    outer: bool
    exact: bool

    def column(self, value: Expression) -> int | None:
        """Return the number of the column that a value is, if it is one."""
        if not isinstance(value, FieldRef):
            return None
        number = value.slot - self.first
        return number if 0 <= number < len(self.rows[0]) else None

    def equal(self, value: Expression) -> int | None:
        """Return the number of the column that ON equates with a value, if one is."""
        return next((n for each, n in self.equated if is_same_value(each, value)), None)

    def number_of(self, value: Expression) -> int | None:
        """Return the number of the column that a value is wherever a row is met.

        Elsewhere it is NULL, as the table's columns are; not what a LEFT join equates.
        """
        number = self.column(value)
        return self.equal(value) if number is None and not self.outer else number

    def met(self, number: int, rows: Sequence[ListedRow]) -> frozenset[Scalar | None]:
        """Return what a column can be where some rows of the table may be met."""
        nulls = [None] * self.outer
        return frozenset([*(row[number] for row in rows), *nulls])

    def cells(self, one: Expression, other: Expression) -> list[ListedRow] | None:
        """Return what two values of a row may be together; None where that is unknown.

        A value that is not among the first ones goes with NULL, or no row has it.
        """
        key, follows = self.column(one), self.column(other)
        nulls = [(None, None)] * self.outer
        if key is not None and follows is None and not self.outer:
            follows = self.equal(other)
        elif key is None and follows is not None and self.exact:
            key, nulls = self.equal(one), []
        if key is None or follows is None:
            return None
        return [*((row[key], row[follows]) for row in self.rows), *nulls]


def lookups_in(node: Node) -> tuple[Lookup, ...]:
    """Return the listed tables that rows of a node were joined to, as they come."""
    return tuple(_lookups(node))


def _lookups(node: Node) -> Iterator[Lookup]:
    match node:
        case Filter() | Compute() | Windowed() | BoundContributions():
            yield from _lookups(node.child)
        case UnitJoin(left, right):
            yield from _lookups(left)
            below = _lookups(right)
            yield from map(_null_extended, below) if node.outer else below
        case PublicJoin(left):
            yield from _lookups(left)
            yield from _lookup(node)
        case _:
            return


def _null_extended(lookup: Lookup) -> Lookup:
    """Return a lookup on the nullable side of a LEFT join.

    Where no row is found every column is NULL, and what is computed of them may not be.
    """
    plain = tuple(pair for pair in lookup.equated if isinstance(pair[0], FieldRef))
    return replace(lookup, outer=True, equated=plain)


def _lookup(node: PublicJoin) -> Iterator[Lookup]:
    scan, conditions = node.right, conjuncts(node.condition)
    equated = tuple(_equated(conditions, node))
    is_key = node.fan_out == 1 and len(conditions) == len(equated) == 1
    numbers = [number for _, number in equated]
    meeting = tuple(
        row for row in scan.table.rows if all(row[n] is not None for n in numbers)
    )
    if meeting:
        exact = is_key or not node.outer
        yield Lookup(scan.first_slot, meeting, equated, node.outer, exact)


def _equated(
    conditions: Sequence[Expression], node: PublicJoin
) -> Iterator[tuple[Expression, int]]:
    """Yield what a column of the table is in each row that meets one of it.

    Of the column's own type alone: 1 and 1.0 are equal, and other values of a key.
    """
    first, columns = node.right.first_slot, node.right.table.columns
    for condition in filter(is_equality, conditions):
        one, two = condition.operands
        for column, value in ((one, two), (two, one)):
            if not isinstance(column, FieldRef):
                continue
            number = column.slot - first
            facts, own = column.facts, value.facts
            is_column = 0 <= number < len(columns)
            is_alike = (facts.type, facts.scale) == (own.type, own.scale)
            if is_column and is_alike and slots_read(value) <= node.left.slots:
                yield value, number
