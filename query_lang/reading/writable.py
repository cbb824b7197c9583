"""Which names a query can write: the parser says, so that no list goes stale."""

from functools import lru_cache

from privacy.errors import QueryError
from query_lang.reading.parse import parse_query
from query_lang.syntax.nodes import IsNull, Name

_NAMED = (
    "SELECT NAME, COUNT(NAME), SUM(NAME + 1) FROM t WHERE NAME IS NULL "
    "GROUP BY NAME HAVING NAME = 1 ORDER BY NAME LIMIT 1"
)
"""Everywhere that a column may stand."""


@lru_cache(4_096)
def is_writable(name: str) -> bool:
    """Whether a query that writes a column's name, bare, is read as that name.

    >>> is_writable("year"), is_writable("limit"), is_writable("current_date")
    (True, False, False)
    """
    try:
        query = parse_query(_NAMED.replace("NAME", name))
    except QueryError:
        return False
    where, first = query.select.where, query.select.items[0].expression
    read = (first, where.value if isinstance(where, IsNull) else None)
    return all(isinstance(each, Name) and each.name == name for each in read)
