"""IN (SELECT ...) that reads the rows around it, as the EXISTS that it is."""

from collections.abc import Collection
from dataclasses import replace
from typing import Protocol

from query_lang.rewriting.trees import parts
from query_lang.syntax.nodes import (
    And,
    Comparison,
    DerivedTable,
    Exists,
    InQuery,
    Name,
    Select,
    SelectItem,
    Star,
    TableName,
    UnionAll,
)


class Names(Protocol):
    """The columns of the rows around a subquery."""

    def qualified(self, name: Name) -> Name:
        """Return a name with its table in front."""
        ...


def as_exists(tree: InQuery, around: Names) -> Exists | None:
    """Return EXISTS of a row whose unit key equals this one, or None.

    Both are the same where neither can be NULL, as unit keys cannot. None where the
    subquery reads nothing outside, or is more than FROM and WHERE.

    Args:
        tree: Of unit keys.
        around: Tells the table of the outer unit key.
    """
    query = tree.query
    if isinstance(query, UnionAll) or not isinstance(tree.value, Name):
        return None
    if not reads_outside(query) or len(query.items) != 1:
        return None
    if query.group_by or query.having is not None:
        return None
    (item,) = query.items
    outer = around.qualified(tree.value)
    equal = Comparison("=", item.expression, outer, tree.position)
    where = equal if query.where is None else And((equal, query.where), query.position)
    star = SelectItem(Star(tree.position), None, tree.position)
    found = replace(query, distinct=False, items=(star,), where=where)
    return Exists(found, tree.position)


def paired(tree: Comparison, around: Collection[str]) -> tuple[Name, Name] | None:
    """Return the column within and the one around that a comparison is of alone."""
    names = [side for side in (tree.left, tree.right) if isinstance(side, Name)]
    outer = [name for name in names if name.qualifier in around]
    inner = [name for name in names if name.qualifier not in around]
    return (inner[0], outer[0]) if len(inner) == len(outer) == 1 else None


def reads_outside(query: Select) -> bool:
    """Whether a column has a table in front that no FROM of the subquery names."""
    return bool(outside(query))


def outside(query: Select) -> set[str]:
    """Return the tables in front of columns that no FROM of the subquery names."""
    inside: set[str] = set()
    named: set[str] = set()
    for part in parts(query):
        if isinstance(part, TableName):
            inside.add(part.alias or part.name)
        elif isinstance(part, DerivedTable):
            inside.add(part.alias)
        elif isinstance(part, Name) and part.qualifier is not None:
            named.add(part.qualifier)
    return named - inside
