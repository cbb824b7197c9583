"""SELECTs below the top: FROM, WHERE, roll-ups, windows, HAVING, projection."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tests.semantics.meaning import domains, relations, tree, values
from tests.semantics.meaning.expressions import (
    FLIPPED,
    OPPOSITE,
    compiled,
    compiled_all,
    is_same,
    ordered,
    texts_left,
)
from tests.semantics.meaning.relations import Relation, Row
from tests.semantics.meaning.scopes import NotAnswerableError, Scope

_SCALAR_NAMES = {tree.Case: "case", tree.Extract: "extract"}


@dataclass(frozen=True)
class Body:
    """FROM, joins and WHERE of a SELECT."""

    scope: Scope
    rows_per_unit: int | None
    widths: tuple[int, int, int]
    run: Callable[[tuple], list[Row]]
    combined: Callable[[frozenset[int]], int] | None = None
    where: object = None
    numbered: Mapping[int, int] = field(default_factory=dict)


class World:
    """The tables of a query, its common tables, and how subqueries are bound."""

    def __init__(self, tables, dataset, bounds, hierarchies):
        self.tables = tables
        self.dataset = dataset
        self.bounds = dict(bounds.tables)
        self.hierarchies = hierarchies
        self.common = {}

    def define(self, name, query):
        """Bind a common table once; its rows are kept."""
        self.common[name] = run_once(self.bind(query, None))

    def bind(self, query, parent):
        """Return the relation of a subquery; ``parent`` is the scope around it."""
        if isinstance(query, tree.UnionAll):
            return relations.union([self.bind(part, parent) for part in query.parts])
        body = self.body(query, parent)
        if query.distinct:
            query = tree.Select(
                query.items,
                query.source,
                group_by=tuple(item.expression for item in query.items),
            )
        if query.group_by:
            return rolled_up(body, query)
        return projected(body, query.items)

    def source(self, node, parent):
        """Return (relation, alias) of a table, common table or derived table."""
        if isinstance(node, tree.Derived):
            return run_once(self.bind(node.query, None)), node.alias
        alias = node.alias or node.name
        if node.name in self.common:
            return self.common[node.name], alias
        table = self.dataset.tables[node.name]
        rows = self.tables[node.name]
        return relations.scan(table, rows, self.bounds.get(node.name)), alias

    def body(self, select, parent):  # noqa: PLR0915 - one meaning, step by step
        """Return FROM, joins and WHERE."""
        relation, alias = self.source(select.source, parent)
        said = [select.where, *(j.on for j in select.joins if j.kind == "inner")]
        wheres = [c for each in said for c in relations.conjuncts(each)]
        if select.joins:
            relation = held_to(relation, alias, wheres)
        joined = relations.first_source(relation, alias)
        for node in select.joins:
            if node.first:
                joined = self.with_first(joined, node)
                continue
            before = joined
            other, name = self.source(node.source, parent)
            other = held_to(other, name, [*wheres, *relations.conjuncts(node.on)])
            joined = relations.join(joined, other, node, name, (parent, self))
            if node.kind == "left" and asks_for_none(select.where, other, name, node):
                most = before.rows_per_unit
                fewer = relations.at_most(most, joined.combined)
                joined = replace(joined, rows_per_unit=most, combined=fewer)
        scope = Scope(self, joined.entries, parent)
        most, run = joined.rows_per_unit, joined.run
        if select.where is not None:
            run = filtered(run, compiled(select.where, scope)[0])
            if not select.joins:
                conditions = relations.conjuncts(select.where)
                held = numbered_bound(relation, conditions, places_in(scope))
                most = most if held is None else min(most, held)
        combined = joined.combined
        if most is not None:
            combined = relations.at_most(most, combined)
        numbered = {} if select.joins else relation.numbered
        found = (scope, most, joined.widths, run, combined, select.where, numbered)
        return Body(*found)

    def with_first(self, left, node):  # noqa: PLR0915 - one meaning, step by step
        """Return each row with the first that it meets of a lateral query.

        Names of the query are its own table's, and then those before it; what it shows
        and is ordered by is its own table's alone.
        """
        query = node.source.query
        relation, alias = self.source(query.source, None)
        entries = relations.first_source(relation, alias).entries
        own = Scope(self, entries)
        both = Scope(self, entries, Scope(self, left.entries))
        test, _ = compiled(query.where, both)
        meant = {item.alias: item.expression for item in query.items if item.alias}
        terms = []
        for item in query.order_by:
            key = resolved_key(item.expression, query.items, own)
            if isinstance(key, tree.Col) and key.table is None:
                key = meant.get(key.name, key)
            value, _ = compiled(key, own)
            terms.append((item, lambda row, value=value: value((row.values,))))
        whole = Body(
            own,
            relation.rows_per_unit,
            relation.widths,
            relation.run,
            relation.combined,
        )
        shown = projected(whole, query.items)
        shown_values, _ = compiled_all([item.expression for item in query.items], own)
        is_left = node.kind == "left"
        missing = relations.Row(
            (None,) * len(shown.names), None, relations.zero_tie(relation.widths)
        )

        def run(env):
            found = []
            for row in left.run(env):
                met = [
                    other
                    for other in relation.run(())
                    if test((row.values, other.values)) is True
                ]
                first = ordered(met, terms)[:1]
                for other in first:
                    made = tuple(value((other.values,)) for value in shown_values)
                    tie = relations.ties(row, other)
                    found.append(relations.Row(row.values + made, row.owner, tie))
                if is_left and not first:
                    tie = relations.ties(row, missing)
                    made = row.values + missing.values
                    found.append(relations.Row(made, row.owner, tie))
            return found

        infos = [info.or_null() if is_left else info for info in shown.infos]
        more = [
            relations.Entry(name, node.source.alias, info)
            for name, info in zip(shown.names, infos, strict=True)
        ]
        widths = tuple(a + b for a, b in zip(left.widths, relation.widths, strict=True))
        most = left.rows_per_unit
        combined = relations.combined_of_join(left, shown, most, is_left=is_left)
        return relations.Joined(
            (*left.entries, *more), most, widths, run, None, combined=combined
        )


def run_once(relation):
    """Return a relation of FROM: it reads nothing from outside and keeps its rows."""
    kept = []

    def run(env):
        if not kept:
            kept.append(relation.run(()))
        return kept[0]

    return replace(relation, run=run)


def filtered(run, test):
    def kept(env):
        return [row for row in run(env) if test((*env, row.values)) is True]

    return kept


def places_in(scope):
    """Return what tells the place of a column of a scope's own FROM."""

    def place_of(column):
        level, place, _ = scope.resolve(column)
        return place if level == scope.level else None

    return place_of


def held_to(relation, alias, conditions):
    """Return an item of a join with the rows that conditions on its numbers leave."""
    if not relation.numbered:
        return relation

    def place_of(column):
        if column.table != alias or column.name not in relation.names:
            return None
        return relation.names.index(column.name)

    held = numbered_bound(relation, conditions, place_of)
    if held is None or relation.rows_per_unit is None:
        return relation
    most = min(relation.rows_per_unit, held)
    fewer = relations.at_most(most, relation.combined)
    return replace(relation, rows_per_unit=most, combined=fewer)


def asks_for_none(where, relation, alias, join):
    """Whether WHERE says that the unit key of what was joined is NULL."""
    for conjunct in relations.conjuncts(where):
        match conjunct:
            case tree.IsNull(tree.Col(name, table), False):
                own = table == alias or (table is None and join.using != name)
                if own and name in relation.names:
                    info = relation.infos[relation.names.index(name)]
                    if not info.nullable:
                        return True
            case _:
                pass
    return False


def numbered_bound(relation, conditions, place_of):
    """Return the most rows that conditions on row numbers leave, None if unsaid.

    Args:
        relation: With its row numbers.
        conditions: All of them hold.
        place_of: From a column to its place in the relation, None of another's.
    """
    found = []
    for place, partitions in relation.numbered.items():
        kept = set(range(1, MOST_NUMBER + 1))
        for conjunct in conditions:
            kept &= numbers_kept(conjunct, place, place_of)
        if len(kept) < MOST_NUMBER // 2:
            found.append(partitions * max(1, len(kept)))
    return min(found, default=None)


MOST_NUMBER = 10_000  # more than one unit has rows


def numbers_kept(condition, place, place_of):
    """Return which of the first numbers a condition on a row number keeps."""
    every = set(range(1, MOST_NUMBER + 1))
    match condition:
        case tree.InList(tree.Col() as column, items, False) if (
            place_of(column) == place
        ):
            if all(isinstance(item, tree.Lit) for item in items):
                return {item.value for item in items} & every
        case tree.Between(tree.Col() as column, tree.Lit(low), tree.Lit(high), False):
            if place_of(column) == place:
                return {n for n in every if low <= n <= high}
        case _:
            sign, column, n = as_comparison(condition)
            if sign not in {None, "<>"} and place_of(column) == place:
                return {k for k in every if values.COMPARE[sign](k, n)}
    return every


def as_comparison(condition, negated=False):
    """Return (sign, column, number), the sign None for any other condition."""
    match condition:
        case tree.Not(item):
            return as_comparison(item, not negated)
        case tree.Compare(sign, tree.Col() as column, tree.Lit(int(n))):
            pass
        case tree.Compare(sign, tree.Lit(int(n)), tree.Col() as column):
            sign = FLIPPED.get(sign, sign)
        case _:
            return None, None, 0
    return OPPOSITE[sign] if negated else sign, column, n


# -- projection ----------------------------------------------------------------


def output_name(item):  # noqa: PLR0911 - one return a kind
    """Return an output column's name: its alias, its column, or its function's."""
    if item.alias is not None:
        return item.alias
    node = item.expression
    if isinstance(node, tree.Col):
        return node.name
    if isinstance(node, tree.Agg | tree.Call):
        return node.name
    if isinstance(node, tree.Window):
        return node.function.name
    return _SCALAR_NAMES.get(type(node), "?")


def projected(body, items):
    """Return a SELECT list over rows, windows included."""
    if any(isinstance(item.expression, tree.Star) for item in items):
        return Relation((), (), body.rows_per_unit, body.widths, body.run)
    windows = [
        node
        for item in items
        for node in tree.walk(item.expression)
        if isinstance(node, tree.Window)
    ]
    scope, run = with_windows(body, windows)
    shown = [item.expression for item in items]
    functions, infos = compiled_all(shown, scope)
    infos = [named(*each, body) for each in zip(shown, infos, strict=True)]
    columns = [places_read(node, scope) for node in shown]

    def rows(env):
        found = []
        for row in run(env):
            inner = (*env, row.values)
            made = tuple(function(inner) for function in functions)
            found.append(Row(made, row.owner, row.tie))
        return found

    parts = [partitions(item.expression, body) for item in items]
    names = tuple(output_name(item) for item in items)
    for place, node in enumerate(shown):  # a row number that is handed on
        if isinstance(node, tree.Col) and body.numbered:
            parts[place] = body.numbered.get(body.scope.resolve(node)[1])
    numbered = {place: most for place, most in enumerate(parts) if most is not None}
    found = (names, tuple(infos), body.rows_per_unit, body.widths, rows, None, numbered)
    return Relation(*found, combined_by(columns, scope, windows, body))


def combined_by(columns, scope, windows, body):
    """Return how many values some columns can have in one unit's rows.

    What a window makes of a whole partition follows from the partition's keys.
    """
    made = {scope.slots[scope.canonical(window)][0]: window for window in windows}

    def combined(places):
        read = set().union(*(columns[place] for place in places))
        for place in [place for place in read if place in made]:
            if not relations.is_of_partition(made[place]):
                return body.rows_per_unit
            read.remove(place)
            for key in made[place].partition_by:
                if compiled(key, body.scope)[1].type != "unit":
                    read |= places_read(key, body.scope)
        return body.combined(frozenset(read))

    return combined


def named(node, info, body):
    """Return what is known of a column: of a text without a list, what WHERE names."""
    if info.type != "text" or info.domain is not None or body.where is None:
        return info
    found = texts_left(is_same(node, body.scope), info, [], [body.where])
    return info if found.domain is None else replace(found, nullable=False)


def places_read(node, scope):
    """Return the places of the columns that a value follows from."""
    if isinstance(node, tree.Select | tree.UnionAll):
        message = "what a subquery reads outside is not told apart"
        raise NotAnswerableError(message)
    slot = scope.slots.get(scope.canonical(node))
    if slot is not None:
        return frozenset({slot[0]})
    if isinstance(node, tree.Col):
        return frozenset({scope.resolve(node)[1]})
    return frozenset().union(*(places_read(p, scope) for p in tree.children(node)))


def partitions(node, body):
    """Return the most partitions of one unit that a ROW_NUMBER() counts in, if any."""
    if not isinstance(node, tree.Window) or node.function.name != "row_number":
        return None
    return groups_of_unit(node.partition_by, body)


def groups_of_unit(keys, body):
    """Return the most groups of one unit by keys, of which its own key is one.

    The values of lists and ranges multiply; of the others there are as many as the
    columns they follow from have together.
    """
    read = unlisted = frozenset()
    listed = 1
    for key in keys:
        info = compiled(key, body.scope)[1]
        if info.type == "unit":
            continue
        own = places_read(key, body.scope)
        read |= own
        size = domains.size(named(key, info, body))
        if size is None:
            unlisted |= own
        else:
            listed *= size
    by_lists = listed * body.combined(unlisted)
    return max(1, min(by_lists, body.combined(read)))


def with_windows(body, windows):
    """Return the scope with slots for windows, and rows that fill them."""
    if not windows:
        return body.scope, body.run
    functions, slots = [], {}
    for node in windows:
        name = body.scope.canonical(node)
        if name not in slots:
            function, info = relations.window_over(node, body.scope, body.rows_per_unit)
            slots[name] = (len(body.scope.entries) + len(functions), info)
            functions.append(function)

    def run(env):
        rows = body.run(env)
        columns = [function(env, rows) for function in functions]
        return [
            row._replace(values=row.values + extra)
            for row, extra in zip(rows, zip(*columns, strict=True), strict=True)
        ]

    return body.scope.over(slots), run


# -- roll-ups ------------------------------------------------------------------


def resolved_key(term, items, scope):
    """Return the expression of a GROUP BY or ORDER BY term.

    A position counts the items from 1; a bare name is an input column first, then an
    alias.
    """
    if isinstance(term, int):
        return items[term - 1].expression
    if isinstance(term, tree.Col) and term.table is None:
        if scope.place(term.name, None) is not None:
            return term
        for item in items:
            if item.alias == term.name:
                return item.expression
    return term


def aggregates_in(nodes):
    """Return the aggregates of rows; one of aggregates is a window's, over results."""
    found = (part for node in nodes for part in tree.walk(node) if is_aggregate(part))
    return [agg for agg in found if not any(is_aggregate(a) for a in inside(agg))]


def inside(agg):
    return () if agg.argument is None else tree.walk(agg.argument)


def is_aggregate(node):
    return isinstance(node, tree.Agg)


def rolled_up(body, select):  # noqa: C901, PLR0915 - one meaning, step by step
    """Return GROUP BY unit key [and columns] with roll-ups and HAVING."""
    keys = [resolved_key(key, select.items, body.scope) for key in select.group_by]
    key_functions, key_infos = compiled_all(keys, body.scope)
    units = [info.type for info in key_infos].count("unit")
    if body.rows_per_unit is not None and not units:
        message = "a roll-up groups by the unit key"
        raise NotAnswerableError(message)
    shown = [item.expression for item in select.items]
    having = [] if select.having is None else [select.having]
    folds, slots = [], {}
    for place, (key, info) in enumerate(zip(keys, key_infos, strict=True)):
        slots.setdefault(body.scope.canonical(key), (place, info))
    for agg in aggregates_in([*shown, *having]):
        name = body.scope.canonical(agg)
        if name not in slots:
            fold, info = relations.fold_over(agg, body.scope, body.rows_per_unit)
            slots[name] = (len(keys) + len(folds), info)
            folds.append(fold)

    def run(env):
        found = []
        groups = relations.groups_of(body.run(env), key_functions, env)
        for key, rows in groups.items():
            folded = tuple(fold(env, rows) for fold in folds)
            tie = min(row.tie for row in rows)
            found.append(Row(key + folded, rows[0].owner, tie))
        return found

    scope = body.scope.over(slots, grouped=True)
    if select.having is not None:
        run = filtered(run, compiled(select.having, scope)[0])
    most = body.rows_per_unit
    if most is not None:
        most = min(most, groups_of_unit(keys, body))
    reads = [
        frozenset() if info.type == "unit" else places_read(key, body.scope)
        for key, info in zip(keys, key_infos, strict=True)
    ]

    def combined(places):
        if any(place >= len(keys) for place in places):
            return most
        return body.combined(frozenset().union(*(reads[place] for place in places)))

    grouped = Body(scope, most, body.widths, run, relations.at_most(most, combined))
    return projected(grouped, select.items)
