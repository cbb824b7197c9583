"""FROM with a private table first, and without tables that are computed of its rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from query_lang.rewriting.constants.unmatched import AGGREGATES, in_own_words
from query_lang.rewriting.constants.using import Tables
from query_lang.rewriting.constants.written import with_columns
from query_lang.rewriting.correlated import reads_outside
from query_lang.rewriting.joins import ties_all
from query_lang.rewriting.trees import (
    Sizes,
    all_of,
    called,
    conjuncts,
    is_aggregate,
    mapped,
    output_of,
    own_name,
    parts,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    ArrayElement,
    Filtered,
    FirstRowJoin,
    JoinedTexts,
    JoinWord,
    NamedWindow,
    NoTable,
    ScalarQuery,
    WrittenJoin,
    WrittenSelect,
)
from query_lang.syntax.nodes import (
    DerivedTable,
    Expression,
    Join,
    Name,
    Select,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

MOST_TABLES: Final = 12
"""Tables of literals, or of what LATERAL computes, in a text: each is written out
wherever it is read."""
_OF_ROWS: Final = (
    *AGGREGATES,
    ArrayElement,
    Filtered,
    JoinedTexts,
    NamedWindow,
    WindowCall,
)


_ONE_ROW = (
    "LATERAL without FROM has one row: an aggregate or a window there is of it alone"
)
_OUTSIDE = "write the aggregate or the window in the SELECT list around it"


def with_computed(select: Select) -> Select:
    """Write out ``CROSS JOIN LATERAL (SELECT age / 10 AS decade) AS x``: no table.

    Raises:
        SqlNotAllowedError: Columns of columns would be too long a text.
    """
    for place, join in reversed([*enumerate(select.joins)]):  # which read those before
        values = _computed(join)
        if values is not None:
            joins = (*select.joins[:place], *select.joins[place + 1 :])
            rest = replace(select, joins=joins)
            found = with_columns(rest, called(join.source), values)
            Sizes().check(found, join.position)
            return with_computed(found)
    return select


def _computed(join: Join) -> dict[str, Expression] | None:
    """Return what a SELECT without FROM computes of each row that it is joined to.

    Or aggregates of the rows that one meets: there is one row of them, whatever they
    are of, so that each is a value in brackets.
    """
    query = join.source.query if isinstance(join.source, DerivedTable) else None
    is_plain = isinstance(join, FirstRowJoin) and isinstance(query, Select)
    if not is_plain or not isinstance(query, Select) or not ties_all(join):
        return None
    clauses = (query.group_by, query.having, query.order_by, query.distinct)
    is_one_row = not any(clauses) and query.limit is None and not _says_more(query)
    if is_one_row and not isinstance(query.source, NoTable):
        return _of_rows_met(query)
    if not is_one_row or query.where or query.joins:
        return None
    named = [(output_of(item), item.expression) for item in query.items]
    found = {name: tree for name, tree in named if name is not None}
    _check_of_row(query)
    return found if len(found) == len(named) else None


def _of_rows_met(query: Select) -> dict[str, Expression] | None:
    """Return each aggregate of a SELECT that reads the row around it, else None."""
    if not reads_outside(query):
        return None
    found: dict[str, Expression] = {}
    for item in query.items:
        name = output_of(item) or own_name(item.expression)
        if name is None or name in found or not is_aggregate(item.expression):
            return None
        one = replace(query, items=(item,))
        found[name] = ScalarQuery(item.position, one)
    return found


def _check_of_row(query: Select) -> None:
    """Refuse a list that has aggregates or windows, or names one of its own columns.

    These are of the one row that it has, and would be of all rows outside it. Dialects
    differ in whether a name is the column before it in the list, or the table's.

    Raises:
        SqlNotAllowedError: Rule ``lateral_join`` or ``ambiguous_name``.
    """
    shown = mapped(query.items, in_own_words)
    titles = {item.alias for item in query.items}
    for part in parts(shown):
        if isinstance(part, _OF_ROWS):
            raise refuse(
                rules.LATERAL_JOIN, query.position, detail=_ONE_ROW, hint=_OUTSIDE
            )
        is_plain = isinstance(part, Name) and part.qualifier is None
        if is_plain and isinstance(part, Name) and part.name in titles:
            raise refuse(rules.AMBIGUOUS_NAME, part.position)


def computed_in(select: Select) -> Counter[str]:
    """Return the columns that LATERAL computes of each row, and of how many tables.

    Raises:
        SqlNotAllowedError: Rule ``relation_count``: each is written out everywhere.
    """
    found: Counter[str] = Counter()
    tables = 0
    for join in select.joins:
        values = _computed(join)
        tables += values is not None
        if tables > MOST_TABLES:
            raise refuse(rules.RELATION_COUNT, join.position)
        found.update([*values] if values else ())
    return found


def _says_more(select: Select) -> bool:
    return isinstance(select, WrittenSelect) and select.says_more()


def private_first(select: Select, tables: Tables) -> Select:
    """Turn round FROM that begins with literals: their conditions stand in WHERE."""
    first: list[Join] = []
    if -1 not in tables:
        return select
    for place, join in enumerate(select.joins):
        if place not in tables:
            return _turned(select, first, place)
        if not isinstance(join, WrittenJoin) or join.word == "RIGHT":
            return select
        first.append(join)
    return select


def _turned(select: Select, first: Sequence[Join], place: int) -> Select:
    join, rest = select.joins[place], select.joins[place + 1 :]
    stays = is_right(join)
    if stays and first:
        raise refuse(rules.RIGHT_JOIN, join.position)
    literals = (select.source, *(each.source for each in first))
    said = conjuncts(join.condition)
    if stays:  # the rows of the private table stay
        kept = Join("left", select.source, all_of(said), (), join.position)
        return replace(select, source=join.source, joins=(kept, *rest))
    word: JoinWord = "RIGHT" if join.kind == "left" else ","
    turned = tuple(
        WrittenJoin("inner", each, None, (), join.position, word=word)
        for each in literals
    )
    where = all_of([*said, *conjuncts(select.where)])
    return replace(select, source=join.source, joins=(*turned, *rest), where=where)


def is_right(join: Join) -> bool:
    """Whether the table that is joined is on the kept side."""
    return isinstance(join, WrittenJoin) and join.word == "RIGHT"
