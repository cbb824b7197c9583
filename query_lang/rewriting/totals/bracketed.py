"""A total in brackets: ``100.0 * COUNT(*) / (SELECT COUNT(*) FROM encounters)``.

Beside GROUP BY it is the sum of the cells, else an aggregate of more rows of the same
table. What reads other rows than the query around it has no meaning here.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from privacy.errors import SqlNotAllowedError
from query_lang.rewriting.calls import filtered
from query_lang.rewriting.correlated import outside, paired, reads_outside
from query_lang.rewriting.trees import (
    all_of,
    called,
    conjuncts,
    outermost,
    parts,
    wording,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import Filtered, ScalarQuery
from query_lang.syntax.nodes import (
    AggregateCall,
    Comparison,
    CountRows,
    Expression,
    Name,
    Select,
    TableName,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

_AGGREGATES = (AggregateCall, CountRows)
_SHOWN = (*_AGGREGATES, ScalarQuery)
_ADDED_UP = frozenset({"count", "sum"})
_ABOVE_ALL = (
    "groups above the whole are chosen by a window over the answer, without HAVING: "
    "QUALIFY AVG(age) > SUM(SUM(age)) OVER () * 1.0 / SUM(COUNT(age)) OVER (); of "
    "counts, QUALIFY COUNT(*) > AVG(COUNT(*)) OVER ()"
)


_OF_ANOTHER_TABLE = (
    "a number of another table: of a public one it stands on the dataset's page, and "
    "is written in, 100000.0 * COUNT(*) / 1024200; of a private one ask for it in a "
    "question of its own, and divide the answers"
)


def scalar_refusal(tree: ScalarQuery) -> SqlNotAllowedError:
    """Return the refusal of a subquery as a value, with what stands for it."""
    query = tree.query
    hint = None
    if isinstance(query, Select) and reads_outside(query):
        hint = _of_each_row(query)
    return refuse(rules.SCALAR_SUBQUERY, tree.position, hint=hint)


def _of_each_row(query: Select) -> str:
    """Return how a value of each row is written as a join, in the names of a query."""
    around, inner, key = outside(query), called(query.source), ("patient_id", "e")
    for part in conjuncts(query.where):
        pair = paired(part, around) if isinstance(part, Comparison) else None
        if pair is not None:
            key = pair[0].name, f"{pair[1].qualifier}"
            break
    name, other = key
    table = query.source.name if isinstance(query.source, TableName) else "..."
    rolled = f"SELECT {name}, COUNT(*) AS n FROM {table} GROUP BY {name}"  # noqa: S608 - a hint
    return (
        f"what belongs to each row is a LEFT JOIN of a roll-up: LEFT JOIN ({rolled}) "
        f"AS {inner} ON {inner}.{name} = {other}.{name}, with COALESCE({inner}.n, 0) "
        "for a count"
    )


def with_totals(select: Select) -> Select:
    """Return the SELECT at the top, of no other idioms, without totals in brackets.

    Raises:
        SqlNotAllowedError: A subquery reads other rows than it, or is no total.
    """
    shown = (select.items, select.having, select.order_by)
    found = [p for p in parts(shown, (Select,)) if isinstance(p, ScalarQuery)]
    if not found:
        return select
    own = _conjuncts(select.where, select)
    totals = [_total(each, select) for each in found]
    if select.sets:  # a sum over all rows of the answer would count the totals too
        raise refuse(rules.SCALAR_SUBQUERY, found[0].position)
    if select.group_by:
        alike = all(total.where.keys() == own.keys() for total in totals)
        if select.having is not None or not alike or not all(map(_adds_up, totals)):
            hint = None if select.having is None else _ABOVE_ALL
            raise refuse(rules.SCALAR_SUBQUERY, found[0].position, hint=hint)
        return _changed(select, lambda node: _sum_of_cells(node, select))
    is_of_groups = any(isinstance(p, _AGGREGATES) for p in parts(shown, (Select,)))
    if select.kept is not None or not is_of_groups:  # else one row for each of these
        raise refuse(rules.SCALAR_SUBQUERY, found[0].position)
    return _of_more_rows(select, found[0], totals)


def _of_more_rows(
    select: Select, first: ScalarQuery, totals: Sequence["_Total"]
) -> Select:
    """Return aggregates of the totals' rows, of which others are of fewer."""
    own = _conjuncts(select.where, select)
    wide = totals[0].where
    same = all(total.where.keys() == wide.keys() for total in totals)
    if not same or not wide.keys() <= own.keys():
        raise refuse(rules.SCALAR_SUBQUERY, first.position)
    kept = all_of([c for said, c in own.items() if said not in wide])

    def of_fewer(node: Expression) -> Expression:
        if isinstance(node, ScalarQuery):
            return _total(node, select).aggregate
        if kept is None or not isinstance(node, _AGGREGATES):
            return node
        return filtered(Filtered(node.position, node, kept))

    where = all_of([c for said, c in own.items() if said in wide])
    return replace(_changed(select, of_fewer), where=where)


@dataclass(frozen=True, slots=True)
class _Total:
    """One aggregate of a table, and what WHERE says of its rows, by its wording."""

    aggregate: AggregateCall | CountRows
    where: dict[Hashable, Expression]


def _total(tree: ScalarQuery, around: Select) -> _Total:
    """Read a subquery that is one aggregate of the table that is read around it."""
    query = tree.query
    refusal = scalar_refusal(tree)
    if type(query) is not Select or len(query.items) != 1:
        raise refusal
    clauses = (
        query.group_by,
        query.having,
        query.order_by,
        query.limit,
        query.distinct,
    )
    aggregate = query.items[0].expression
    if any(clauses) or not isinstance(aggregate, _AGGREGATES):
        raise refusal
    one, other = _table(query), _table(around)
    if one is None or one != other:
        hint = _of_each_row(query) if reads_outside(query) else _OF_ANOTHER_TABLE
        raise refuse(rules.SCALAR_SUBQUERY, tree.position, hint=hint)
    if any(isinstance(part, Select) for part in parts(aggregate)):
        raise refusal
    own = called(around.source)

    def renamed(node: Expression) -> Expression:
        if isinstance(node, Name) and node.qualifier == called(query.source):
            return replace(node, qualifier=own)
        return node

    plain = outermost(aggregate, (Name,), renamed)
    return _Total(plain, _conjuncts(query.where, query))


def _table(select: Select) -> tuple[str, str | None] | None:
    source = select.source
    if select.joins or not isinstance(source, TableName):
        return None
    return source.name, source.schema


def _adds_up(total: _Total) -> bool:
    aggregate = total.aggregate
    if isinstance(aggregate, CountRows):
        return True
    return aggregate.name in _ADDED_UP and not aggregate.distinct


def _sum_of_cells(node: Expression, around: Select) -> Expression:
    if not isinstance(node, ScalarQuery):
        return node
    cell = _total(node, around).aggregate
    total = AggregateCall("sum", False, (cell,), (), node.position)  # noqa: FBT003 - fields in their order
    return WindowCall(total, (), (), None, node.position)


def _changed(select: Select, change: Callable[[Expression], Expression]) -> Select:
    """Return a SELECT whose aggregates and totals were changed, where it shows them."""
    return replace(
        select,
        items=outermost(select.items, _SHOWN, change),
        having=outermost(select.having, _SHOWN, change),
        order_by=outermost(select.order_by, _SHOWN, change),
    )


def _conjuncts(tree: Expression | None, select: Select) -> dict[Hashable, Expression]:
    """Return what WHERE says, each by its wording in no table's name."""
    own = called(select.source)
    return {wording(item, own): item for item in conjuncts(tree)}
