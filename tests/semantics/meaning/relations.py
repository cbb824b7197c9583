"""Tables, joins, roll-ups, windows and unions as lists of rows.

Every row carries its unit (``owner``) and its ``tie``: what completes every order by
PRIVACY 2. Choices where that page leaves room:
 T1 a tie is (hashes in join order, part numbers of UNION ALLs, public row numbers),
    compared in this order whatever the order of the joins among themselves: the page
    says "the hashes in join order; then part number, public row number". A missing side
    of a LEFT JOIN is NULL, NULL is first.
 T2 parts of a UNION ALL with different numbers of hashes are filled with NULL behind.
    An outer UNION ALL's part number comes before an inner one's.
 T3 the tie of a group of a roll-up is the least tie of its rows, as a whole.
 T4 rows_per_unit of a join is the least that any row of PRIVACY 1's table gives; a
    literal counts as "an expression over the other side alone".
 T6 columns have at most as many values in one unit's rows as follow from where they
    come from: a roll-up or numbering by more than the unit key has as many groups.
 T7 a LEFT JOIN of which WHERE (its conjuncts) keeps the rows without a match alone, by
    IS NULL of a unit key that each row joined has, gives as many as it was given.
 T5 only ``rn = n`` and ``rn <= n``, either way round, lower rows_per_unit, to one or n
    rows a partition; the reading SELECT reads the numbering derived table (or CTE)
    alone, with no join.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from privacy.schema import Table
from tests.semantics.meaning import domains, tree
from tests.semantics.meaning.domains import Info, integer, whole
from tests.semantics.meaning.expressions import (
    compiled,
    compiled_all,
    folded,
    info_of_fold,
    ordered,
)
from tests.semantics.meaning.scopes import Entry, NotAnswerableError, Scope

Tie = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
NO_TIE: Tie = ((), (), ())
_ABOVE_NULL = 2**63 + 1  # moves every hash above 0, which is NULL: NULL is first


class Row(NamedTuple):
    values: tuple
    owner: int | None
    tie: Tie


@dataclass(frozen=True)
class Relation:
    """What FROM can name.

    Attributes:
        names: Of the columns.
        infos: Of the columns.
        rows_per_unit: The most rows of one unit; None for a public relation.
        widths: Lengths of the three parts of a tie.
        run: From an environment to the rows.
        table: The declared table, where this is one scan and nothing else.
        numbered: Of places of columns that are ROW_NUMBER(): the most partitions that
            one unit has.
        combined: From places of columns to the most different values that they have in
            one unit's rows.
    """

    names: tuple[str, ...]
    infos: tuple[Info, ...]
    rows_per_unit: int | None
    widths: tuple[int, int, int]
    run: Callable[[tuple], list[Row]]
    table: Table | None = None
    numbered: Mapping[int, int] = field(default_factory=dict)
    combined: Callable[[frozenset[int]], int] | None = None


def at_most(rows, combined):
    """Return what tells combinations of columns: no more than rows, 1 of none."""
    return lambda places: min(rows, combined(places)) if places else 1


def tie_of(row):
    return row.tie


def scan(table, rows, bound):
    """Return a declared table, its rows of rank at most ``bound`` (None: all)."""
    names = tuple(column.name for column in table.columns)
    infos = tuple(
        domains.UNIT
        if column.name == table.unit_column
        else domains.info_of_column(column)
        for column in table.columns
    )
    if table.is_public:
        found = [
            Row(tuple(row[name] for name in names), None, ((), (), (number,)))
            for number, row in enumerate(rows, start=1)
        ]
        return Relation(names, infos, None, (0, 0, 1), lambda _: found, table)
    read = ["unit" if name == table.unit_column else name for name in names]
    most = table.max_rows_per_unit if bound is None else bound
    most = min(most, table.max_rows_per_unit)
    found = [
        Row(
            tuple(row[name] for name in read),
            row["unit"],
            ((row["row_hash"] + _ABOVE_NULL,), (), ()),
        )
        for row in rows
        if row["row_rank"] <= most
    ]
    still = {
        place
        for place, column in enumerate(table.columns)
        if column.constant_in_unit or column.name == table.unit_column
    }
    unit = names.index(table.unit_column)

    def combined(places):
        return 1 if places <= still else most

    own = at_most(most, combined)
    return Relation(
        *(names, infos, most, (1, 0, 0), lambda _: found, table),
        combined=lambda places: own(places - {unit}),
    )


# -- joins ---------------------------------------------------------------------


@dataclass(frozen=True)
class Joined:
    """FROM with its joins, before WHERE."""

    entries: tuple[Entry, ...]
    rows_per_unit: int | None
    widths: tuple[int, int, int]
    run: Callable[[tuple], list[Row]]
    table: Table | None
    still: bool = True  # whether no row depends on outer rows
    combined: Callable[[frozenset[int]], int] | None = None


def first_source(relation, alias):
    entries = tuple(
        Entry(name, alias, info)
        for name, info in zip(relation.names, relation.infos, strict=True)
    )
    return Joined(
        entries,
        relation.rows_per_unit,
        relation.widths,
        relation.run,
        relation.table,
        combined=relation.combined,
    )


def join(left, relation, join_node, alias, parent_and_world):
    """Return ``left [LEFT] JOIN relation``."""
    parent, world = parent_and_world
    is_left = join_node.kind == "left"
    entries = list(left.entries)
    for name, info in zip(relation.names, relation.infos, strict=True):
        hidden = name == join_node.using
        entries.append(Entry(name, alias, info, hidden))
    scope = Scope(world, tuple(entries), parent)
    condition = join_node.on or _using(left, join_node.using, alias)
    test, _ = compiled(condition, scope)
    widths = tuple(a + b for a, b in zip(left.widths, relation.widths, strict=True))
    missing = Row((None,) * len(relation.names), None, zero_tie(relation.widths))

    candidates = candidates_of(relation, condition, scope, len(left.entries))
    still = left.still and not reads_outside(condition, scope)

    def run(env):
        fitting = candidates(env)
        found = []
        for row in left.run(env):
            before = len(found)
            for other in fitting(row):
                both = row.values + other.values
                if meet(row, other) and test((*env, both)) is True:
                    found.append(Row(both, owner(row, other), ties(row, other)))
            if is_left and len(found) == before:
                found.append(
                    Row(row.values + missing.values, row.owner, ties(row, missing))
                )
        return found

    if relation.rows_per_unit is None:  # a public table
        entries = listed(entries, condition, scope, len(left.entries))
    shown = tuple(
        replace(entry, info=entry.info.or_null())
        if is_left and place >= len(left.entries)
        else entry
        for place, entry in enumerate(entries)
    )
    most = rows_of_join(left, relation, condition, scope, is_left=is_left)
    kept = once(run) if still else run
    combined = combined_of_join(left, relation, most, is_left=is_left)
    return Joined(shown, most, widths, kept, None, still, combined)


def combined_of_join(left, right, most, *, is_left):
    """Return how many values columns of both sides have: those of each, multiplied.

    A row without a match has NULL in all columns of the other side, which is one more.
    What a public table gives is not told apart: as many as rows.
    """
    boundary = len(left.entries)

    def combined(places):
        mine = frozenset(place for place in places if place < boundary)
        theirs = frozenset(place - boundary for place in places - mine)
        if right.rows_per_unit is None:
            return most if theirs else left.combined(mine)
        if left.rows_per_unit is None:
            return most if mine else right.combined(theirs)
        beside = right.combined(theirs) + is_left if theirs else 1
        return left.combined(mine) * beside

    return at_most(most, combined)


def once(run):
    """Return rows that do not depend on outer rows, computed once."""
    kept = []

    def rows(env):
        if not kept:
            kept.append(run(env))
        return kept[0]

    return rows


def reads_outside(condition, scope):
    """Whether a condition may depend on outer rows; subqueries count as doing so."""
    for node in tree.walk(condition):
        if isinstance(node, tree.Select):
            return True
        if isinstance(node, tree.Col) and scope.resolve(node)[0] != scope.level:
            return True
    return False


def candidates_of(relation, condition, scope, boundary):
    """Return what looks up the rows that one equality of the condition lets through.

    This only saves time: the whole condition is tested on each of them.
    """
    for conjunct in conjuncts(condition):
        if not isinstance(conjunct, tree.Compare) or conjunct.operator != "=":
            continue
        sides = (conjunct.left, conjunct.right)
        if reads_outside(conjunct, scope):
            continue
        reads = [sides_read(side, scope, boundary) for side in sides]
        if reads == [{1}, {0}]:
            sides = sides[::-1]
        elif reads != [{0}, {1}]:
            continue
        return _index(relation, sides, scope, boundary)

    def all_rows(env):
        others = relation.run(env)
        return lambda _: others

    return all_rows


def _index(relation, sides, scope, boundary):
    (mine, theirs), _ = compiled_all(sides, scope)
    before = (None,) * boundary

    def candidates(env):
        index = {}
        for other in relation.run(env):
            value = theirs((*env, before + other.values))
            index.setdefault(value, []).append(other)
        index.pop(None, None)
        return lambda row: index.get(mine((*env, row.values)), ())

    return candidates


def owner(row, other):
    return other.owner if row.owner is None else row.owner


def meet(row, other):
    """Whether rows may be joined: those of two units never are (PRIVACY 1)."""
    return row.owner is None or other.owner is None or row.owner == other.owner


def ties(row, other):
    a, b = row.tie, other.tie
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def zero_tie(widths):
    return tuple((0,) * width for width in widths)


def _using(left, name, alias):
    tables = [e.table for e in left.entries if e.name == name and not e.hidden]
    return tree.Compare("=", tree.Col(name, tables[0]), tree.Col(name, alias))


def conjuncts(condition):
    """Return the top-level conjuncts of a condition."""
    if isinstance(condition, tree.And):
        return [c for item in condition.items for c in conjuncts(item)]
    return [] if condition is None else [condition]


def rows_of_join(left, right, condition, scope, *, is_left):
    """Return rows_per_unit of a join by the table of PRIVACY 1."""
    equated = equalities(condition, scope, len(left.entries))
    a, b = left.rows_per_unit, right.rows_per_unit
    if right.table is not None and right.table.is_public:
        return a * fan_out(right.table, equated[1])
    if a is None:
        return b * fan_out(left.table, equated[0])
    found = [a * max(1, b) if is_left else a * b]
    if looked_up(right.table, equated[1]):
        found.append(a)
    if not is_left and looked_up(left.table, equated[0]):
        found.append(b)
    return min(found)


def equalities(condition, scope, boundary):
    """Return the column names of each side equated with expressions of the other."""
    sides = (set(), set())
    for conjunct in conjuncts(condition):
        if not isinstance(conjunct, tree.Compare) or conjunct.operator != "=":
            continue
        for one, other in (
            (conjunct.left, conjunct.right),
            (conjunct.right, conjunct.left),
        ):
            if not isinstance(one, tree.Col):
                continue
            level, place, _ = scope.resolve(one)
            if level != scope.level:
                continue
            side = int(place >= boundary)
            if side not in sides_read(other, scope, boundary):
                sides[side].add(one.name)
    return sides


def listed(entries, condition, scope, boundary):
    """Return entries whose texts behind the boundary have the list that ON equates."""
    found = list(entries)
    for conjunct in conjuncts(condition):
        if not isinstance(conjunct, tree.Compare) or conjunct.operator != "=":
            continue
        sides = (conjunct.left, conjunct.right)
        for one, other in (sides, sides[::-1]):
            if not isinstance(one, tree.Col):
                continue
            level, place, _ = scope.resolve(one)
            known = compiled(other, scope)[1]
            is_own = level == scope.level and place >= boundary
            if known.type == "text" and is_own and found[place].info.domain is None:
                info = replace(found[place].info, domain=known.domain)
                found[place] = replace(found[place], info=info)
    return found


def sides_read(node, scope, boundary):
    """Return which sides (0 left, 1 right) an expression reads."""
    found = set()
    for part in tree.walk(node):
        if isinstance(part, tree.Col):
            level, place, _ = scope.resolve(part)
            if level == scope.level:
                found.add(int(place >= boundary))
    return found


def fan_out(table, equated):
    """Return how many rows of a public table can fit one row."""
    if table.key and set(table.key) <= equated:
        return 1
    found = [most for columns, most in table.fan_out if set(columns) <= equated]
    if not found:
        message = f"no declared key of {table.name} is equated"
        raise NotAnswerableError(message)
    return min(found)


def looked_up(table, equated):
    """Whether at most one row of the unit in a scan can fit a row of the other side."""
    if table is None or not table.key:
        return False
    return set(table.key) - {table.unit_column} <= equated


# -- roll-ups ------------------------------------------------------------------


def groups_of(rows, keys, env):
    """Return {key values: rows}."""
    groups = {}
    for row in rows:
        inner = (*env, row.values)
        groups.setdefault(tuple(key(inner) for key in keys), []).append(row)
    return groups


def fold_over(agg, scope, rows_per_unit):
    """Return (function of an environment and rows, Info) of a roll-up.

    W2: what FILTER leaves can be no row, so that a count of it is in [0, k] and any
        other aggregate can be NULL.
    """
    if agg.where is not None:
        fold, info = fold_over(replace(agg, where=None), scope, rows_per_unit)
        test, _ = compiled(agg.where, scope)
        if agg.argument is None:
            info = integer(whole(0, rows_per_unit), nullable=False)
        nullable = info.nullable or agg.name in {"first", "last"}
        return with_filter(fold, test), replace(info, nullable=nullable)
    if agg.argument is None:
        count = integer(whole(1, rows_per_unit), nullable=False)
        return (lambda _, rows: len(rows)), count
    argument, info = compiled(agg.argument, scope)
    fold = folded(agg, info)
    terms = [(item, compiled(item.expression, scope)[0]) for item in agg.order_by]

    def result(env, rows):
        if terms:
            rows = ordered(rows, in_env(terms, env))
        return fold([argument((*env, row.values)) for row in rows])

    name = "count" if agg.distinct else agg.name
    return result, info_of_fold(name, info, rows_per_unit)


def with_filter(fold, test):
    """Return a fold of the rows for which a test is TRUE."""

    def result(env, rows):
        return fold(env, [row for row in rows if test((*env, row.values)) is True])

    return result


def in_env(terms, env):
    """Turn functions of environments into functions of rows."""
    return [
        (item, lambda row, value=value: value((*env, row.values)))
        for item, value in terms
    ]


# -- windows -------------------------------------------------------------------


def window_over(node, scope, rows_per_unit):
    """Return (function of an environment and rows to one value a row, Info)."""
    keys = [compiled(key, scope)[0] for key in node.partition_by]
    terms = [(item, compiled(item.expression, scope)[0]) for item in node.order_by]
    values_of, info = window_function(node, scope, rows_per_unit)

    def result(env, rows):
        found = {}
        for group in groups_of(rows, keys, env).values():
            in_order = ordered(group, in_env(terms, env))
            found_values = values_of(env, in_order)
            for row, value in zip(in_order, found_values, strict=True):
                found[id(row)] = value
        return [found[id(row)] for row in rows]

    return result, info


def window_function(node, scope, rows_per_unit):
    """Return (function of an environment and an ordered partition, Info)."""
    name = node.function.name
    if name == "row_number":
        info = integer(whole(1, rows_per_unit), nullable=False)
        return (lambda _, rows: range(1, len(rows) + 1)), info
    if name in {"lag", "lead"}:
        return moved(node, scope)
    return framed(node, scope, rows_per_unit)


def is_of_partition(node):
    """Whether a window has one value in a partition: of all its rows, or the first."""
    name, frame = node.function.name, node.frame
    if name in {"row_number", "lag", "lead"}:
        return False
    if frame is None:
        frame = tree.Frame(None, 0 if node.order_by else None)
    reaches = frame.end is None or (name == "first_value" and frame.end >= 0)
    return frame.start is None and reaches


def moved(node, scope):
    argument, info = compiled(node.function.arguments[0], scope)
    offset = (*node.function.arguments, 1)[1]
    step = -offset if node.function.name == "lag" else offset

    def result(env, rows):
        found = [argument((*env, row.values)) for row in rows]
        places = [place + step for place in range(len(rows))]
        return [found[p] if 0 <= p < len(rows) else None for p in places]

    return result, info.or_null()


def framed(node, scope, rows_per_unit):
    """Return aggregates and FIRST_VALUE, LAST_VALUE over ROWS frames.

    W1: COUNT over a frame that surely holds its own row is in [1, k], else [0, k];
        frames never narrow k.
    """
    function, frame = node.function, node.frame
    where = getattr(function, "where", None)
    test = None if where is None else compiled(where, scope)[0]
    if frame is None:
        frame = tree.Frame(None, 0 if node.order_by else None)
    start, end = frame.start, frame.end
    of_rows = isinstance(function, tree.Agg) and function.argument is None
    if of_rows:
        fold, info = len, None
    else:
        is_agg = isinstance(function, tree.Agg)
        argument, info = compiled(
            function.argument if is_agg else function.arguments[0], scope
        )
        fold = folded(function if is_agg else tree.Agg(function.name), info)

    def result(env, rows):
        found = rows if of_rows else [argument((*env, row.values)) for row in rows]
        size = len(found)
        kept = [test is None or test((*env, r.values)) is True for r in rows]
        for place in range(size):
            first = 0 if start is None else max(0, place + start)
            last = size if end is None else max(0, place + end + 1)
            framed_rows = zip(found[first:last], kept[first:last], strict=True)
            yield fold([value for value, is_kept in framed_rows if is_kept])

    own = (start is None or start <= 0) and (end is None or end >= 0)
    least = int(own and of_rows and test is None)
    return result, info_of_fold(function.name, info, rows_per_unit, least_count=least)


# -- union ---------------------------------------------------------------------


def union(parts):
    """Return a UNION ALL: by position, names of the first part."""
    first = parts[0]
    inner = [max(p.widths[i] for p in parts) for i in range(3)]
    widths = (inner[0], inner[1] + 1, inner[2])

    def filled(tie, number):
        hashes, numbers, publics = (
            part + (0,) * (width - len(part))
            for part, width in zip(tie, inner, strict=True)
        )
        return (hashes, (number, *numbers), publics)

    def run(env):
        return [
            row._replace(tie=filled(row.tie, number))
            for number, part in enumerate(parts, start=1)
            for row in part.run(env)
        ]

    infos = tuple(
        domains.merged(infos, nullable=any(info.nullable for info in infos))
        for infos in zip(*(part.infos for part in parts), strict=True)
    )
    private = all(part.rows_per_unit is not None for part in parts)
    most = sum(part.rows_per_unit for part in parts) if private else None
    return Relation(
        *(first.names, infos, most, widths, run),
        combined=lambda places: most if places else 1,
    )
