"""Tables of literals leave FROM: what a row reads of them is written where it is read.

A row that meets one row of literals at most reads CASE. One that may meet several is
read once for each of them, by UNION ALL. So nothing after this knows such tables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from query_lang.rewriting.constants.meeting import are_exclusive, key_of, keys_differ
from query_lang.rewriting.constants.repeated import reads_literals, repeated
from query_lang.rewriting.constants.rows import (
    Constants,
    Known,
    Row,
    at_row,
    constants_in,
)
from query_lang.rewriting.constants.written import check_empty, with_columns
from query_lang.rewriting.trees import (
    MOST_NODES,
    all_of,
    called,
    conjuncts,
    output_of,
    parts,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import FirstRowJoin, JoinWord, NoTable, WrittenJoin
from query_lang.syntax.nodes import (
    BooleanLiteral,
    Case,
    CaseBranch,
    Comparison,
    DerivedTable,
    Expression,
    InList,
    Join,
    Name,
    Or,
    Position,
    Select,
)
from query_lang.syntax.refusals import refuse

_MOST_BRANCHES = 24
"""Of CASE in place of the key itself, whose cells are more than those in the text."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A table of literals that a SELECT joins.

    Attributes:
        table: Its rows.
        called: Its name in FROM.
        conditions: What the join says of them.
        keeps_private: LEFT JOIN of it: rows that meet none stay.
        keeps_literals: It stands on the kept side: literals that meet no row stay.
    """

    table: Constants
    called: str
    conditions: tuple[Expression, ...]
    keeps_private: bool = False
    keeps_literals: bool = False

    def reads(self, tree: object) -> bool:
        """Whether an expression has a column of it."""
        return reads_literals(tree, self.called, frozenset(self.table.columns))

    def is_of(self, part: object) -> bool:
        """Whether a part is a column of it; a name alone is, where it has that name."""
        if not isinstance(part, Name) or part.qualifier not in {None, self.called}:
            return False
        return part.name in self.table.columns

    def at(self, tree: Expression, row: Row) -> Expression:
        """Return an expression at one of its rows."""
        return at_row(tree, self.table, self.called, row)


def read_constants(select: Select, known: Known) -> Select:
    """Return a SELECT that joins no tables of literals.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``: what is asked has no such form.
    """
    while True:
        select = _private_first(_with_computed(select), known)
        found = _taken_out(select, known)
        if found is None:
            return select
        select = _written(*found)


def _with_computed(select: Select) -> Select:
    """Write out ``CROSS JOIN LATERAL (SELECT age / 10 AS decade) AS x``: no table."""
    for place, join in enumerate(select.joins):
        values = _computed(join)
        if values is not None:
            joins = (*select.joins[:place], *select.joins[place + 1 :])
            rest = replace(select, joins=joins)
            return _with_computed(with_columns(rest, called(join.source), values))
    return select


def _computed(join: Join) -> dict[str, Expression] | None:
    """Return what a SELECT without FROM computes of each row that it is joined to."""
    query = join.source.query if isinstance(join.source, DerivedTable) else None
    is_plain = isinstance(join, FirstRowJoin) and isinstance(query, Select)
    if not is_plain or not isinstance(query, Select):
        return None
    clauses = (query.where, query.joins, query.group_by, query.having, query.order_by)
    says_nothing = join.condition is None or isinstance(join.condition, BooleanLiteral)
    if not isinstance(query.source, NoTable) or any(clauses) or not says_nothing:
        return None
    if query.limit is not None or query.distinct:
        return None
    named = [(output_of(item), item.expression) for item in query.items]
    found = {name: tree for name, tree in named if name is not None}
    return found if len(found) == len(named) else None


# -- where the table stands ------------------------------------------------------


def _private_first(select: Select, known: Known) -> Select:
    """Turn round FROM that begins with literals: their conditions stand in WHERE."""
    first: list[Join] = []
    if constants_in(select.source, known) is None:
        return select
    for place, join in enumerate(select.joins):
        if constants_in(join.source, known) is None:
            return _turned(select, first, place)
        if not isinstance(join, WrittenJoin) or join.word == "RIGHT":
            return select
        first.append(join)
    return select


def _turned(select: Select, first: Sequence[Join], place: int) -> Select:
    join, rest = select.joins[place], select.joins[place + 1 :]
    is_right = isinstance(join, WrittenJoin) and join.word == "RIGHT"
    if is_right and first:
        raise refuse(rules.RIGHT_JOIN, join.position)
    literals = (select.source, *(each.source for each in first))
    said = _said(join, called(select.source), called(join.source))
    if is_right:  # the rows of the private table stay
        kept = Join("left", select.source, all_of(said), (), join.position)
        return replace(select, source=join.source, joins=(kept, *rest))
    word: JoinWord = "RIGHT" if join.kind == "left" else ","
    turned = tuple(
        WrittenJoin("inner", each, None, (), join.position, word=word)
        for each in literals
    )
    where = all_of([*said, *conjuncts(select.where)])
    return replace(select, source=join.source, joins=(*turned, *rest), where=where)


def _said(join: Join, one: str, other: str) -> list[Expression]:
    """Return what a join says, USING as equalities."""
    equal: list[Expression] = [
        Comparison(
            "=",
            Name(name, one, join.position),
            Name(name, other or None, join.position),
            join.position,
        )
        for name in join.using
    ]
    return [*equal, *conjuncts(join.condition)]


def _taken_out(select: Select, known: Known) -> tuple[Select, Joined] | None:
    """Return a SELECT without the first table of literals that it joins, and that."""
    if constants_in(select.source, known) is not None:
        return None
    for place, join in enumerate(select.joins):
        table = constants_in(join.source, known)
        if table is None:
            continue
        joins = (*select.joins[:place], *select.joins[place + 1 :])
        name = called(join.source)
        is_right = isinstance(join, WrittenJoin) and join.word == "RIGHT"
        before = called(select.source) if place == 0 else ""
        said = _said(join, name, before)
        if join.kind == "left" and not is_right:
            found = Joined(table, name, tuple(said), keeps_private=True)
            return replace(select, joins=joins), found
        found = Joined(table, name, (), keeps_literals=is_right)
        where = [*said, *conjuncts(select.where)]
        own = tuple(each for each in where if found.reads(each))
        rest = all_of([each for each in where if not found.reads(each)])
        return replace(select, joins=joins, where=rest), replace(found, conditions=own)
    return None


# -- what is read of it ------------------------------------------------------------


def _written(select: Select, joined: Joined) -> Select:
    if joined.keeps_literals:
        check_empty(select)
    rows = joined.table.rows
    _check_size(joined, select.position)
    met = [[joined.at(c, row) for c in joined.conditions] for row in rows]
    key = key_of(joined.conditions, joined.is_of, joined.reads)
    if key is not None:
        place = joined.table.columns.index(key[0].name)
        differ = keys_differ([row[place] for row in rows])
        if differ and len(joined.conditions) == 1:
            return _by_key(select, joined, key[1], place)
        if differ:
            return _by_conditions(select, joined, met)
    if are_exclusive(met):
        return _by_conditions(select, joined, met)
    if joined.keeps_private:
        detail = "a row that stays without a match meets one row in the text at most"
        raise refuse(rules.CONSTANT_ROWS, select.position, detail=detail)
    return repeated(select, joined.table, joined.called, met)


def _check_size(joined: Joined, position: Position) -> None:
    """Refuse conditions that would be long once they are written for each row.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``.
    """
    nodes = sum(1 for _ in parts(joined.conditions))
    if nodes * len(joined.table.rows) > MOST_NODES:
        raise refuse(rules.TOO_COMPLEX, position)


def _by_key(select: Select, joined: Joined, key: Expression, place: int) -> Select:
    """Read each column by the value of a key that tells the rows apart."""
    rows, at = joined.table.rows, key.position

    def value(column: int) -> Expression:
        if column == place and len(rows) > _MOST_BRANCHES and not joined.keeps_private:
            return key
        branches = tuple(
            CaseBranch(Comparison("=", key, row[place], at), row[column])
            for row in rows
        )
        return _case(branches, at, keeps=joined.keeps_private)

    items = tuple(row[place] for row in rows)
    kept = InList(key, items, negated=False, position=at)
    return _with_values(select, joined, value, kept)


def _by_conditions(
    select: Select, joined: Joined, met: Sequence[Sequence[Expression]]
) -> Select:
    """Read each column by conditions of which one holds at most."""
    rows, at = joined.table.rows, select.position
    holds = [all_of(each) for each in met]
    known = [each for each in holds if each is not None]

    def value(column: int) -> Expression:
        pairs = zip(known, rows, strict=True)
        branches = tuple(CaseBranch(said, row[column]) for said, row in pairs)
        return _case(branches, at, keeps=joined.keeps_private)

    kept = known[0] if len(known) == 1 else Or(tuple(known), at)
    return _with_values(select, joined, value, kept)


def _case(branches: tuple[CaseBranch, ...], at: Position, *, keeps: bool) -> Expression:
    """Return CASE, of which the last branch is all the rest where one branch holds."""
    if keeps:
        return Case(None, branches, None, at)
    if len(branches) == 1:
        return branches[0].result
    return Case(None, branches[:-1], branches[-1].result, at)


def _with_values(
    select: Select,
    joined: Joined,
    value: Callable[[int], Expression],
    kept: Expression,
) -> Select:
    columns = joined.table.columns
    values = {name: value(place) for place, name in enumerate(columns)}
    found = with_columns(select, joined.called, values)
    if joined.keeps_private:
        return found
    return replace(found, where=all_of([*conjuncts(found.where), kept]))
