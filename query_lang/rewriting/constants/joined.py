"""Tables of literals leave FROM: what a row reads of them is written where it is read.

A row that meets one row of literals at most reads CASE. One that may meet several is
read once for each of them, by UNION ALL. So nothing after this knows such tables.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from query_lang.rewriting.constants.meeting import are_exclusive, key_of, keys_differ
from query_lang.rewriting.constants.placed import (
    MOST_TABLES,
    computed_in,
    is_right,
    private_first,
    with_computed,
)
from query_lang.rewriting.constants.repeated import MOST_TIMES, repeated
from query_lang.rewriting.constants.rows import (
    Constants,
    Joined,
    Known,
    constants_in,
)
from query_lang.rewriting.constants.scopes import check_alone, check_names
from query_lang.rewriting.constants.unmatched import (
    check_unmatched,
    column_of,
    ties,
)
from query_lang.rewriting.constants.using import (
    Tables,
    with_plain_names,
    without_using,
)
from query_lang.rewriting.constants.written import (
    Values,
    alone_in,
    with_columns,
)
from query_lang.rewriting.trees import (
    MOST_NODES,
    Sizes,
    all_of,
    called,
    conjuncts,
    parts,
)
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    Case,
    CaseBranch,
    Comparison,
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
class _Read:
    """A SELECT from which tables of literals leave, one by one.

    Attributes:
        select: What is left of it.
        waiting: Tables that were not looked at yet.
        several: Tables of which a row may meet several rows: read once for each.
    """

    select: Select
    waiting: tuple[Joined, ...]
    several: tuple[Joined, ...] = ()

    def written(self, joined: Joined, values: Values) -> "_Read":
        """Return what is left once a table's columns are written out.

        Raises:
            SqlNotAllowedError: It would be too long a text.
        """
        found = with_columns(self.select, joined.called, values)
        waiting, several = (
            tuple(each.written(joined.called, values) for each in tables)
            for tables in (self.waiting, self.several)
        )
        said = tuple(each.conditions for each in (*waiting, *several))
        Sizes().check((found, said), found.position)
        return _Read(found, waiting, several)


def read_constants(select: Select, known: Known, *, is_inner: bool) -> Select:
    """Return a SELECT that joins no tables of literals.

    Args:
        select: Of a text, whose own brackets join none.
        known: What is known of the tables of literals.
        is_inner: Whether it may read columns of a SELECT around it.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``: what is asked has no such form.
    """
    computed, is_filtered = computed_in(select), select.where is not None
    if computed:
        check_names(select)
        select = _with_computed_alone(select, computed, _tables(select, known))
    if is_inner:
        check_alone(select, {*computed})
    select = with_computed(select)
    tables = _tables(select, known)
    if tables and is_inner:
        check_alone(select, {c for table in tables.values() for c in table.columns})
    if tables:
        check_names(select)
        select = replace(select, gone=_without(select, tables))
        select = private_first(without_using(select, tables), tables)
        tables = _tables(select, known)
    if -1 in tables or not tables:
        return select
    select = _with_kept(select, tables, is_filtered=is_filtered)
    read = _taken_out(_with_alone(select, tables), tables)
    while read.waiting:
        first, *others = read.waiting
        _check_size(first, known, read.select.position)
        read = _one_row(replace(read, waiting=tuple(others)), first)
    if read.several:
        _check_times(read, known)
    several = [(each.called, each.table, each.conditions) for each in read.several]
    found = repeated(read.select, several) if several else read.select
    return with_plain_names(found)


def _tables(select: Select, known: Known) -> dict[int, Constants]:
    """Return the tables of FROM that are literals, by place; behind FROM it is -1.

    Raises:
        SqlNotAllowedError: Rule ``relation_count``: they are too many.
    """
    sources = (select.source, *(join.source for join in select.joins))
    found: dict[int, Constants] = {}
    for place, source in enumerate(sources, start=-1):
        table = constants_in(source, known)
        if table is not None:
            found[place] = table
        if len(found) > MOST_TABLES:
            raise refuse(rules.RELATION_COUNT, source.position)
    return found


def _with_computed_alone(
    select: Select, computed: Counter[str], tables: Tables
) -> Select:
    """Note which names alone LATERAL computes: they are of no table of FROM, either.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``: a table of literals has one, or
            LATERAL computes two of that name.
    """
    literal = {column for table in tables.values() for column in table.columns}
    alone = {name.name: name for name in alone_in(select, frozenset(computed))}
    for name in alone.values():
        if name.name in literal or computed[name.name] > 1:
            raise refuse(rules.AMBIGUOUS_NAME, name.position, detail=_of_two(name))
    alone_now = (*select.alone, *alone.values())
    return replace(select, alone=alone_now, gone=(*select.gone, *sorted(computed)))


def _of_two(name: Name) -> str:
    return f"{name.name} is a column of two tables of FROM"


def _with_alone(select: Select, tables: Tables) -> Select:
    """Note which names alone are columns of literals: of no other table, that is.

    Raises:
        SqlNotAllowedError: Rule ``ambiguous_name``: two tables of literals have one.
    """
    every = [column for table in tables.values() for column in {*table.columns}]
    alone = {name.name: name for name in alone_in(select, frozenset(every))}
    for name in alone.values():
        if every.count(name.name) > 1:
            raise refuse(rules.AMBIGUOUS_NAME, name.position, detail=_of_two(name))
    return replace(select, alone=(*select.alone, *alone.values()))


def _without(select: Select, tables: Tables) -> tuple[str, ...]:
    """Return what can be named no more once literals are written out.

    USING makes one column of two.
    """
    merged = {name for join in select.joins for name in join.using}
    columns = {name for table in tables.values() for name in table.columns}
    return (*select.gone, *sorted(columns - merged))


def _with_kept(select: Select, tables: Tables, *, is_filtered: bool) -> Select:
    """Note whether literals stay without a match; refuse what would count them.

    Args:
        select: Whose WHERE may have taken conditions of ON in.
        tables: Of literals, by place.
        is_filtered: Whether the text has a WHERE.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``.
    """
    if not any(is_right(select.joins[place]) for place in tables):
        return select
    places = {place: called(select.joins[place].source) for place in tables}
    named = {places[n]: frozenset(table.columns) for n, table in tables.items()}
    check_unmatched(select, column_of(named))
    right = [name for n, name in places.items() if is_right(select.joins[n])]
    kept = {name: named[name] for name in right}
    _check_others(select, tables, column_of(kept))
    return replace(
        select,
        unmatched=tuple(_of_literals(select, kept)),
        is_thinned=is_filtered or any(map(_drops_unmatched, select.joins)),
    )


def _check_others(
    select: Select, tables: Tables, is_kept: Callable[[Name], bool]
) -> None:
    """Refuse what is joined to literals that stay: it has values without a match.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``.
    """
    for place, join in enumerate(select.joins):
        if place not in tables and ties(join, is_kept):
            detail = "a further table cannot be joined to rows in the text that stay"
            raise refuse(rules.CONSTANT_ROWS, join.position, detail=detail)


def _drops_unmatched(join: Join) -> bool:
    """Whether what is joined to rows without a match may leave them out."""
    return join.kind != "left" and not is_right(join)


def _of_literals(select: Select, kept: Mapping[str, frozenset[str]]) -> Iterator[Name]:
    """Yield the columns of literals that may be keys."""
    is_kept = column_of(kept)
    said = (*select.group_by, *(item.expression for item in select.items))
    names = {n.name: n for n in parts(said) if isinstance(n, Name) and is_kept(n)}
    yield from names.values()


def _taken_out(select: Select, tables: Tables) -> _Read:
    """Return what is left without tables of literals, and what is said of each.

    A condition of WHERE that reads several of them is the last one's: it ties that to
    those before it.
    """
    found: list[Joined] = []
    rest = conjuncts(select.where)
    for place, table in reversed([*tables.items()]):
        join = select.joins[place]
        name, said = called(join.source), tuple(conjuncts(join.condition))
        if join.kind == "left" and not is_right(join):
            found.append(Joined(table, name, said, keeps_private=True))
            continue
        joined = Joined(table, name, ())
        own = tuple(each for each in (*said, *rest) if joined.reads(each))
        rest = [each for each in (*said, *rest) if not joined.reads(each)]
        found.append(replace(joined, conditions=own))
    joins = tuple(j for place, j in enumerate(select.joins) if place not in tables)
    left = replace(select, joins=joins, where=all_of(rest))
    return _Read(left, tuple(reversed(found)))


# -- what is read of it ------------------------------------------------------------


def _one_row(read: _Read, joined: Joined) -> _Read:
    """Write out a table of which a row meets one row at most; note another one."""
    rows = joined.table.rows
    met = [[joined.at(c, row) for c in joined.conditions] for row in rows]
    key = key_of(joined.conditions, joined.is_of, joined.reads)
    if key is not None:
        place = joined.table.columns.index(key[0].name)
        differ = keys_differ([row[place] for row in rows])
        if differ and len(joined.conditions) == 1:
            return _by_key(read, joined, key[1], place)
        if differ:
            return _by_conditions(read, joined, met)
    if are_exclusive(met):
        return _by_conditions(read, joined, met)
    if joined.keeps_private:
        detail = "a row that stays without a match meets one row in the text at most"
        raise refuse(rules.CONSTANT_ROWS, read.select.position, detail=detail)
    return replace(read, several=(*read.several, joined))


def _check_size(joined: Joined, known: Known, position: Position) -> None:
    """Refuse conditions that would be long once they are written for each row.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``.
    """
    nodes = sum(1 for _ in parts(joined.conditions))
    if nodes * len(joined.table.rows) > MOST_NODES:
        raise refuse(rules.TOO_COMPLEX, position)
    known.fold(joined.conditions, len(joined.table.rows), position)


def _check_times(read: _Read, known: Known) -> None:
    """Refuse rows that would be long to read once for each row in the text.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``.
    """
    times = min(prod(len(each.table.rows) for each in read.several), MOST_TIMES)
    said = tuple(each.conditions for each in read.several)
    ties = tuple(join.condition for join in read.select.joins)
    known.fold((said, ties, read.select.where), times, read.select.position)


def _by_key(read: _Read, joined: Joined, key: Expression, place: int) -> _Read:
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
    return _with_values(read, joined, value, kept)


def _by_conditions(
    read: _Read, joined: Joined, met: Sequence[Sequence[Expression]]
) -> _Read:
    """Read each column by conditions of which one holds at most."""
    rows, at = joined.table.rows, read.select.position
    holds = [all_of(each) for each in met]
    known = [each for each in holds if each is not None]

    def value(column: int) -> Expression:
        pairs = zip(known, rows, strict=True)
        branches = tuple(CaseBranch(said, row[column]) for said, row in pairs)
        return _case(branches, at, keeps=joined.keeps_private)

    kept = known[0] if len(known) == 1 else Or(tuple(known), at)
    return _with_values(read, joined, value, kept)


def _case(branches: tuple[CaseBranch, ...], at: Position, *, keeps: bool) -> Expression:
    """Return CASE, of which the last branch is all the rest where one branch holds."""
    if keeps:
        return Case(None, branches, None, at)
    if len(branches) == 1:
        return branches[0].result
    return Case(None, branches[:-1], branches[-1].result, at)


def _with_values(
    read: _Read,
    joined: Joined,
    value: Callable[[int], Expression],
    kept: Expression,
) -> _Read:
    columns = joined.table.columns
    values = {name: value(place) for place, name in enumerate(columns)}
    found = read.written(joined, values)
    if joined.keeps_private:
        return found
    where = all_of([*conjuncts(found.select.where), kept])
    return replace(found, select=replace(found.select, where=where))
