"""Bound conditions: typed columns and literals under three-valued logic.

A predicate is a function of one row; it yields TRUE, FALSE or NULL for every row and
cannot raise. WHERE keeps the rows for which it is TRUE.
"""

from dataclasses import dataclass

from privacy.schema import Column, Scalar
from query_lang.syntax import ComparisonOperator


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A declared column of a scanned table."""

    table: str
    column: Column


@dataclass(frozen=True, slots=True)
class CompareLiteral:
    """``column operator value``; NULL where the column is NULL.

    A number is an int where it is whole, else a Decimal, whatever the column's scale:
    numbers compare exactly.
    """

    operator: ComparisonOperator
    column: ColumnRef
    value: Scalar


@dataclass(frozen=True, slots=True)
class CompareColumns:
    """``left operator right`` over two columns of one type, or two numbers."""

    operator: ComparisonOperator
    left: ColumnRef
    right: ColumnRef


@dataclass(frozen=True, slots=True)
class InValues:
    """``column IN (values)``, none of them NULL; each value once."""

    column: ColumnRef
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class NullTest:
    """``column IS NULL``."""

    column: ColumnRef


@dataclass(frozen=True, slots=True)
class BooleanColumn:
    """A boolean column as a condition."""

    column: ColumnRef


@dataclass(frozen=True, slots=True)
class Negation:
    """NOT in three-valued logic."""

    item: "Predicate"


@dataclass(frozen=True, slots=True)
class Conjunction:
    """AND in three-valued logic, over two or more."""

    items: tuple["Predicate", ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """OR in three-valued logic, over two or more."""

    items: tuple["Predicate", ...]


Predicate = (
    CompareLiteral
    | CompareColumns
    | InValues
    | NullTest
    | BooleanColumn
    | Negation
    | Conjunction
    | Disjunction
)
