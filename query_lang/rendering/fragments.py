"""Pieces of SQL that carry their parameters with them."""

from collections.abc import Iterable
from dataclasses import dataclass

from privacy.schema import Scalar


@dataclass(frozen=True, slots=True)
class Fragment:
    """SQL text with ``?`` marks, and their values in the order of the marks."""

    sql: str
    parameters: tuple[Scalar, ...] = ()

    def __add__(self, other: "Fragment") -> "Fragment":
        """Join two pieces, values in order."""
        return Fragment(self.sql + other.sql, self.parameters + other.parameters)


def identifier(name: str) -> str:
    """Quote a name of the catalogue.

    >>> identifier("age")
    '"age"'
    """
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def for_each_row(value: Fragment) -> Fragment:
    """Return a value that the engine makes for each row, as COALESCE always does.

    DuckDB 2.0.0 holds 2,048 equal values as one, and a stored dictionary's as
    references to its entries: what is computed from them is computed once each. Then
    one row of another value would begin work on the rows of others.

    >>> for_each_row(Fragment('"age"')).sql
    'COALESCE("age", NULL)'
    """
    return Fragment("COALESCE(") + value + Fragment(", NULL)")


def listed(pieces: Iterable[Fragment], between: str = ", ") -> Fragment:
    """Join pieces with a separator.

    >>> listed([Fragment("a = ?", (1,)), Fragment("b")], " AND ")
    Fragment(sql='a = ? AND b', parameters=(1,))
    """
    parts = tuple(pieces)
    parameters = tuple(value for part in parts for value in part.parameters)
    return Fragment(between.join(part.sql for part in parts), parameters)
