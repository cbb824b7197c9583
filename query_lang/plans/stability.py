"""How many rows one unit can have in a node: the rule table of PRIVACY 1.

One rule a function. Neighbouring relation throughout: add or remove all rows of one
unit; a bound is the most rows of a node that one unit owns.
"""

from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse

MAX_ROWS_PER_UNIT = 10**6
"""The public maximum: a plan whose bound passes it is refused before charging.

It also bounds how much longer a query can run for one unit's rows (PRIVACY 6): joining
a dozen copies of one table would take half a minute longer for a unit of four rows.
"""


def scan_rows(declared: int, asked: int | None = None) -> int:
    """Return the declared bound, or a lower one asked for. Proof: scan.md."""
    return declared if asked is None else min(declared, asked)


def filter_rows(rows: int, first: int | None = None) -> int:
    """Return the input's bound, or ``first`` where a row number is held to it.

    Proof: filter.md and numbering.md.
    """
    return rows if first is None else min(rows, first)


def computed_rows(rows: int) -> int:
    """Return the input's bound: a value or window adds no row. Proof: window.md."""
    return rows


def rollup_rows(rows: int, groups: int) -> int:
    """Return the bound on a unit's groups, 1 by its key alone. Proof: rollup.md."""
    return min(rows, groups)


def unit_join_rows(left: int, right: int) -> int:
    """Return the bound of an INNER join on the unit key. Proof: join.md."""
    return left * right


def preserved_join_rows(left: int, right: int) -> int:
    """Return the bound of a LEFT join on the unit key. Proof: join.md."""
    return left * max(1, right)


def keyed_join_rows(other: int) -> int:
    """Return the bound of a join with a side by columns unique within the unit.

    Each row of the other side meets at most one row. Proof: join.md.
    """
    return other


def public_join_rows(rows: int, fan_out: int = 1) -> int:
    """Return the bound of a join with a public table. Proof: public_join.md."""
    return rows * fan_out


def union_rows(parts: tuple[int, ...]) -> int:
    """Return the bound of a UNION ALL. Proof: union_all.md."""
    return sum(parts)


def bounded_rows(rows: int, most: int | None) -> int:
    """Return the bound after an explicit one. Proof: bound_contributions.md."""
    return rows if most is None else min(rows, most)


def check_rows(rows: int, position: Position) -> None:
    """Refuse a plan in which one unit could have too many rows.

    Raises:
        SqlNotAllowedError: Rule ``row_bound_too_large``.
    """
    if rows > MAX_ROWS_PER_UNIT:
        raise refuse(
            rules.ROW_BOUND_TOO_LARGE,
            position,
            detail=f"one unit could have {rows:,} rows here; at most "
            f"{MAX_ROWS_PER_UNIT:,} are allowed",
        )
