"""Pieces of SQL that several families of nodes are made of."""

from collections.abc import Iterable, Sequence

from query_lang.plans.expressions import Expression, slots_read
from query_lang.rendering.duckdb.expressions import slot_name
from query_lang.rendering.fragments import Fragment, listed

Slots = frozenset[int]


def columns(shown: Sequence[Fragment]) -> Fragment:
    """Return the items of a SELECT; a relation has one column at least."""
    return listed(shown) if shown else Fragment("1 AS one")


def names(slots: Iterable[int]) -> list[Fragment]:
    """Return the names of slots, sorted."""
    return [Fragment(slot_name(slot)) for slot in sorted(slots)]


def select(
    shown: Sequence[Fragment], source: Fragment, test: Fragment | None = None
) -> Fragment:
    """Return a derived table in brackets."""
    query = Fragment("(SELECT ") + columns(shown) + Fragment(" FROM ") + source
    if test is not None:
        query += Fragment(" WHERE ") + test
    return query + Fragment(")")


def joined(
    wanted: Slots, left: Fragment, right: Fragment, on: Fragment, *, outer: bool
) -> Fragment:
    """Return the wanted slots of two joined relations."""
    kind = " LEFT JOIN " if outer else " INNER JOIN "
    source = left + Fragment(kind) + right + Fragment(" ON ") + on
    return select(names(wanted), source)


def read_by(expressions: Iterable[Expression]) -> Slots:
    """Return the slots that some expressions read."""
    return frozenset(slot for each in expressions for slot in slots_read(each))
