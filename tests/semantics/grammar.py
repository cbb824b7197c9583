"""Random questions over ``hospital.DATASET``: type-correct, mostly allowed, nested.

``random_question(rng)`` gives a ``Question``: a tree and the bounds asked for. What a
subquery offers is read from the evaluator's own binding, so that keys have cells and
sums have bounds. ``constructs(tree)`` counts what a tree is made of.

What is kept out on purpose, because it is refused or its meaning is left open: literals
on both sides, windows in the top SELECT, roll-up averages anywhere but beside a
literal, unit keys of nullable sides anywhere but in ON and COUNT(DISTINCT).
"""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from privacy.contributions import NO_BOUNDS, ContributionBounds
from tests.semantics import hospital
from tests.semantics.meaning import domains, moments, relations, tree
from tests.semantics.meaning.evaluator import Prepared, own_codes
from tests.semantics.meaning.expressions import compiled
from tests.semantics.meaning.queries import World
from tests.semantics.meaning.scopes import Entry, NotAnswerableError, Scope
from tests.semantics.meaning.tree import (
    Agg,
    And,
    Arith,
    Between,
    Call,
    Case,
    Cast,
    Coalesce,
    Col,
    Compare,
    Derived,
    Divide,
    Exists,
    Extract,
    Frame,
    InList,
    InQuery,
    IsDistinct,
    IsNull,
    IsTruth,
    Item,
    Join,
    Like,
    Lit,
    Minus,
    Not,
    NullIf,
    Or,
    OrderItem,
    Query,
    Select,
    Star,
    TableRef,
    Today,
    UnionAll,
    Window,
)

NO_ROWS = {name: [] for name in hospital.DATASET.tables}
HIERARCHIES = {**hospital.HIERARCHIES, "care": own_codes(hospital.CARE)}
PRIVATE = ("patients", "encounters", "diagnoses", "labs")
UNIT = "patient_id"
OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
NUMBERS = frozenset({"integer", "decimal"})
MOST_PLACES = 4
"""Of a column whose variance is asked: products of two have twice as many."""
MOST_CELLS = 300
MOST_ROWS = 400  # rows_per_unit of a join that is still tried
TRIES = 40


@dataclass(frozen=True)
class Question:
    """A tree and the bounds that its request asks for."""

    tree: Query
    bounds: ContributionBounds = NO_BOUNDS

    @property
    def sql(self):
        return tree.print_sql(self.tree)


def random_question(rng, laterals=0.0):
    """Return a question that the evaluator can answer.

    Args:
        rng: Of its choices.
        laterals: How many joins are LATERAL.
    """
    for _ in range(TRIES):
        try:
            return Author(rng, laterals).question()
        except NotAnswerableError:
            continue
    message = "the grammar finds no question that can be answered"
    raise AssertionError(message)


class Author:
    """Writes one question."""

    def __init__(self, rng, laterals=0.0):
        self.rng = rng
        self.laterals = laterals
        self.world = World(NO_ROWS, hospital.DATASET, NO_BOUNDS, HIERARCHIES)
        self.common = []
        self.aliases = 0

    # -- chance ----------------------------------------------------------------

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, options):
        if not options:
            message = "nothing to choose from"
            raise NotAnswerableError(message)
        return options[int(self.rng.random() * len(options))]

    def alias(self):
        self.aliases += 1
        return f"t{self.aliases}"

    # -- the top ---------------------------------------------------------------

    def question(self):
        for number in range(self.pick((0, 0, 0, 1, 1, 2))):
            self._define(f"w{number + 1}")
        source, joins, scope = self.from_clause(depth=3)
        where = self.condition(scope, 3) if self.chance(0.6) else None
        keys = self._keys(scope)
        items = [Item(key, f"k{n}" if named else None) for n, (key, named) in keys]
        aggregates = [self._aggregate(scope) for _ in range(self.pick((1, 1, 2, 3)))]
        items += [Item(agg, f"m{n}") for n, agg in enumerate(aggregates)]
        if self.chance(0.2):
            self.rng.shuffle(items)
        select = Select(
            tuple(items),
            source,
            joins,
            where,
            tuple(self._written_key(key, n, items) for n, (key, _) in keys),
            *self._after(scope, keys, aggregates, items),
        )
        found = Question(Query(select, tuple(self.common)), self._bounds())
        Prepared(found.tree, NO_ROWS, hospital.DATASET, found.bounds, HIERARCHIES)
        return found

    def _define(self, name):
        query = self.pick((self.rolled, self.windowed, self.plain, self.united))(2)
        self.world.define(name, query)
        self.common.append((name, query))

    def _keys(self, scope):
        """Return [(number, (expression, whether it has an alias))]."""
        found, cells = [], 1
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            key = self._key(scope)
            info = compiled(key, scope)[1]
            size = len(domains.listed(info)) + 1
            if cells * size > MOST_CELLS:
                continue
            cells *= size
            if all(scope.canonical(key) != scope.canonical(k) for _, (k, _) in found):
                taken = [k.name for _, (k, _) in found if isinstance(k, Col)]
                named = not isinstance(key, Col) or key.name in taken
                found.append((len(found), (key, named or self.chance(0.3))))
        return found

    def _key(self, scope):
        for _ in range(8):
            key = self.any_value(scope, self.pick((0, 0, 1, 2)))
            info = compiled(key, scope)[1]
            if domains.can_be_listed(info, MOST_CELLS) and info.domain:
                return key
        message = "no key"
        raise NotAnswerableError(message)

    def _written_key(self, key, number, items):
        """Write a key as itself, its position, or its alias."""
        place = next(n for n, item in enumerate(items) if item.expression is key)
        alias = items[place].alias
        options = [key, place + 1]
        if alias is not None and not isinstance(key, Col):
            options.append(Col(alias))
        return self.pick(options)

    def _aggregate(self, scope):
        found = self._plain_aggregate(scope)
        if self.chance(0.15) and found.name not in moments.NAMES:  # bounds would narrow
            return replace(found, where=self.condition(scope, 1, subqueries=False))
        return found

    def _plain_aggregate(self, scope):  # noqa: PLR0911 - one return a kind
        kind = self.pick(
            (
                *("rows", "rows", "units", "count", "distinct", "sum", "avg"),
                *("median", "q", "moment"),
            )
        )
        if kind == "rows":
            return Agg("count")
        if kind == "units":
            return Agg("count", self._unit(scope, nullable=self.chance(0.2)), True)
        if kind == "count":
            return Agg("count", self.any_value(scope, 1))
        if kind == "distinct":
            return Agg("count", self._key(scope), distinct=True)
        if kind in {"sum", "avg"}:
            return Agg(kind, self._bounded(scope, NUMBERS))
        if kind == "moment":
            return self._moment(scope)
        types = {"integer", "decimal", "date"}
        value = self._bounded(scope, types, listed=False)
        if kind == "median":
            return Agg("median", value)
        fraction = Decimal(self.pick(("0.5", "0.25", "0.9", "0.001")))
        return Agg(
            "quantile", value, fraction=fraction, bins=self.pick((None, 2, 7, 30))
        )

    def _moment(self, scope):
        """Return a variance, covariance or correlation of what is not vast."""
        name = self.pick(sorted(moments.NAMES))
        wanted = 1 if name.startswith(("var", "stddev")) else 2
        values = [self._bounded(scope, NUMBERS) for _ in range(wanted)]
        for value in values:
            info = compiled(value, scope)[1]
            if (
                info.scale > MOST_PLACES
                or moments.Centred.of(None, info, "", 1).reach > 10**6
            ):
                return Agg("sum", value)
        return Agg(name, values[0], other=values[1] if wanted > 1 else None)

    def _bounded(self, scope, types, *, listed=True):
        """Return a value with finite bounds of one of some types."""
        for _ in range(8):
            value = self.any_value(scope, self.pick((0, 0, 1, 2)), types)
            info = compiled(value, scope)[1]
            ends = domains.hull(info.domain)
            if ends is None or ends[0] == ends[1]:
                continue
            single = len(info.domain) == 1 and isinstance(info.domain[0], domains.Range)
            if listed or single:
                return value
        message = "no bounded value"
        raise NotAnswerableError(message)

    def _after(self, scope, keys, aggregates, items):
        """Return HAVING, ORDER BY and LIMIT."""
        having, order, limit = None, [], None
        shown = [key for _, (key, _) in keys]
        if keys and self.chance(0.25):
            having = self._having(scope, shown, aggregates)
        if self.chance(0.3):
            for expression in self.rng.sample(
                items, self.pick((1, min(2, len(items))))
            ):
                place = items.index(expression)
                term = self.pick((expression.expression, place + 1))
                order.append(self._order(term))
        if self.chance(0.1):
            order.append(self._order(Agg("count")))
        if self.chance(0.2):
            limit = self.pick((1, 2, 5, 1000))
        return having, tuple(order), limit

    def _having(self, scope, keys, aggregates):
        if keys and self.chance(0.3):
            key = self.pick(keys)
            test = self._tested(key, compiled(key, scope)[1])
            return IsNull(key) if isinstance(test, Like) else test
        numbers = [a for a in aggregates if not _is_date(a, scope)]
        chosen = self.pick([*numbers, Agg("count")])
        return Compare(self.pick(OPERATORS), chosen, Lit(self.pick((0, 1, 2, 3))))

    def _order(self, expression):
        nulls = self.pick((None, None, True, False))
        return OrderItem(expression, self.chance(0.5), nulls)

    def _bounds(self):
        if self.chance(0.6):
            return NO_BOUNDS
        tables = ()
        if self.chance(0.5):
            names = sorted(self.rng.sample(PRIVATE, self.pick((1, 2))))
            tables = tuple((name, self.pick((1, 2, 3, 9))) for name in names)
        rows = self.pick((None, 1, 2, 3))
        groups = self.pick((None, None, 1, 2))
        return ContributionBounds(tables, rows, groups)

    # -- FROM ------------------------------------------------------------------

    def source(self, depth):
        """Return (node, alias, relation) of something private."""
        if self.common and self.chance(0.5):
            name = self.pick(self.common)[0]
            alias = self.alias()
            return TableRef(name, alias), alias, self.world.common[name]
        if depth <= 0 or self.chance(0.55):
            return self._table(self.pick((*PRIVATE, "encounters")))
        query = self.subquery(depth - 1)
        alias = self.alias()
        return Derived(query, alias), alias, self.world.bind(query, None)

    def _table(self, name):
        alias = self.alias() if self.chance(0.9) or self.aliases else None
        relation = self.world.source(TableRef(name), None)[0]
        return TableRef(name, alias), alias or name, relation

    def subquery(self, depth):
        kinds = (self.rolled, self.rolled, self.windowed, self.windowed, self.plain)
        return self.pick((*kinds, self.united, self.first_rows))(depth)

    def from_clause(self, depth, parent=None):
        """Return (source, joins, scope)."""
        node, alias, relation = self.source(depth)
        joined = relations.first_source(relation, alias)
        joins = []
        for _ in range(self.pick((0, 0, 0, 1, 1, 2))):
            lateral = self.laterals and self.chance(self.laterals)
            if lateral and joined.rows_per_unit is not None:
                join = self._first_row_join(joined)
                joined = self.world.with_first(joined, join)
                joins.append(join)
                continue
            found = self._join(joined, depth, parent)
            if found is None:
                continue
            other, other_alias, join = found
            after = relations.join(
                joined, other, join, other_alias, (parent, self.world)
            )
            if after.rows_per_unit <= MOST_ROWS:
                joined = after
                joins.append(join)
        return node, tuple(joins), Scope(self.world, joined.entries, parent)

    def _first_row_join(self, joined):
        """Return LATERAL of a table: its first row for each row so far."""
        node, alias, relation = self._table(self.pick(PRIVATE))
        own = Scope(self.world, entries_of(relation, alias))
        left = Scope(self.world, joined.entries)
        both = Scope(self.world, (*left.entries, *own.entries))
        units = [e for e in left.entries if e.info.type == "unit" and not e.hidden]
        mine = self.pick(units)
        parts = [Compare("=", Col(UNIT, alias), Col(mine.name, mine.table))]
        while self.chance(0.4) and len(parts) < 3:
            parts.append(self._simple(both, "compare"))
        where = And(tuple(parts)) if len(parts) > 1 else parts[0]
        items = [
            Item(self.any_value(own, self.pick((0, 1))), f"l{number}")
            for number in range(self.pick((1, 2)))
        ]
        terms = self._terms(own, 0)
        query = Select(tuple(items), node, (), where, order_by=terms, limit=1)
        kind = self.pick(("inner", "left", "left"))
        return Join(kind, Derived(query, self.alias()), first=True)

    def _join(self, joined, depth, parent):
        """Return (relation, alias, join) or None where nothing fits."""
        kind = self.pick(("inner", "left", "left"))
        left = Scope(self.world, joined.entries, parent)
        if self.chance(0.3):
            return self._public_join(left, kind)
        node, alias, relation = self.source(depth - 1)
        if relation.infos[0].type != "unit":
            return None
        both = Scope(self.world, (*left.entries, *entries_of(relation, alias)), parent)
        units = [e for e in left.entries if e.info.type == "unit" and not e.hidden]
        mine = self.pick(units)
        same = [e for e in left.entries if e.name == UNIT and not e.hidden]
        if len(same) == 1 and relation.names[0] == UNIT and self.chance(0.3):
            return relation, alias, Join(kind, node, using=UNIT)
        tie = [Col(relation.names[0], alias), Col(mine.name, mine.table)]
        self.rng.shuffle(tie)
        parts = [Compare("=", *tie)]
        if relation.table is hospital.DIAGNOSES and self.chance(0.5):
            parts.append(self._equated(Col("seq", alias), left))
        while self.chance(0.3) and len(parts) < 3:
            parts.append(self.condition(both, 1, subqueries=False))
        on = And(tuple(parts)) if len(parts) > 1 else parts[0]
        return relation, alias, Join(kind, node, on=on)

    def _equated(self, column, left):
        try:
            value = self.any_value(left, 1, {"integer"})
        except NotAnswerableError:
            value = Lit(1)
        return Compare("=", column, value)

    def _public_join(self, left, kind):
        name = self.pick(("wards", "grades"))
        key, kinds = ("ward", "text") if name == "wards" else ("severity", "integer")
        node, alias, relation = self._table(name)
        alias = alias if node.alias else name
        options = [e for e in left.entries if e.info.type == kinds]
        named = [e for e in options if e.name == key]
        if not options:
            return None
        entry = self.pick(named or options)
        mine = self._reference(left, entry)
        parts = [Compare("=", Col(key, alias), mine)]
        if self.chance(0.3):
            both = Scope(
                self.world, (*left.entries, *entries_of(relation, alias)), left.parent
            )
            parts.append(self.condition(both, 1, subqueries=False))
        on = And(tuple(parts)) if len(parts) > 1 else parts[0]
        return relation, alias, Join(kind, node, on=on)

    # -- subqueries with a unit key in front -----------------------------------

    def _unit(self, scope, *, nullable=False):
        units = [e for e in scope.entries if e.info.type == "unit" and not e.hidden]
        fitting = [e for e in units if nullable or not e.info.nullable]
        return self._reference(scope, self.pick(fitting))

    def _reference(self, scope, entry):
        """Return a column, without its table where that is clear."""
        same = [e for e in scope.entries if e.name == entry.name and not e.hidden]
        if len(same) == 1 and not entry.hidden and self.chance(0.4):
            return Col(entry.name)
        return Col(entry.name, entry.table)

    def _base(self, depth):
        source, joins, scope = self.from_clause(depth - 1)
        where = self.condition(scope, 2) if self.chance(0.4) else None
        return source, joins, scope, where

    def plain(self, depth):
        """Return a projection with a filter."""
        source, joins, scope, where = self._base(depth)
        items = [Item(self._unit(scope), UNIT)]
        for number in range(self.pick((1, 2, 3))):
            value = self.any_value(scope, self.pick((0, 0, 1, 2)))
            items.append(Item(value, f"c{number}"))
        select = Select(tuple(items), source, joins, where)
        if self.chance(0.15):
            return Select(tuple(items), source, joins, where, distinct=True)
        return select

    def rolled(self, depth):
        """Return GROUP BY unit key [, columns] with roll-ups."""
        source, joins, scope, where = self._base(depth)
        unit = self._unit(scope)
        keys = [unit]
        if self.chance(0.35):
            keys.append(self.any_value(scope, self.pick((0, 1))))
        items = [
            Item(unit, None if isinstance(unit, Col) and unit.name == UNIT else UNIT)
        ]
        items += [Item(key, f"g{n}") for n, key in enumerate(keys[1:])]
        group = [self.pick((unit, 1))]
        group += [
            self.pick((key, n + 2) if isinstance(key, Col) else (n + 2, Col(f"g{n}")))
            for n, key in enumerate(keys[1:])
        ]
        for number in range(self.pick((1, 1, 2, 3))):
            items.append(Item(self._rollup(scope), f"a{number}"))
        having = self._exact_having(scope) if self.chance(0.3) else None
        return Select(tuple(items), source, joins, where, tuple(group), having)

    def _rollup(self, scope):
        found = self._plain_rollup(scope)
        if self.chance(0.15) and found.name not in moments.NAMES:  # bounds would narrow
            return replace(found, where=self.condition(scope, 0, subqueries=False))
        return found

    def _plain_rollup(self, scope):  # noqa: PLR0911 - one return a kind
        name = self.pick(
            ("rows", "count", "distinct", "sum", "min", "max", "bool", "first", "last")
        )
        if name == "rows":
            return Agg("count")
        if name == "distinct":
            return Agg("count", self.any_value(scope, 1), distinct=True)
        if name == "sum":
            return Agg("sum", self.any_value(scope, 1, NUMBERS))
        if name == "bool":
            return Agg(self.pick(("bool_and", "bool_or")), self.boolean(scope))
        if name in {"first", "last"}:
            return Agg(name, self.any_value(scope, 1), order_by=self._terms(scope, 1))
        kinds = {"integer", "decimal", "date", "timestamp", "text"}
        types = None if name == "count" else kinds
        return Agg(name, self.any_value(scope, 1, types))

    def _exact_having(self, scope):
        options = ["count", "avg", "max", "sum", "both"]
        name = self.pick(options)
        if name == "both":
            parts = (self._exact_having(scope), self._exact_having(scope))
            return self.pick((And, Or))(parts)
        if name == "count":
            return Compare(
                self.pick(OPERATORS), Agg("count"), Lit(self.pick((1, 2, 3)))
            )
        value = self.any_value(scope, 1, NUMBERS)
        literal = self.literal("integer", None)
        return Compare(self.pick(OPERATORS), Agg(name, value), literal)

    def _terms(self, scope, least):
        count = self.pick((least, 1, 2)) if least else self.pick((0, 1, 1, 2))
        terms = []
        for _ in range(count):
            value = self.any_value(scope, self.pick((0, 0, 1)))
            terms.append(self._order(value))
        return tuple(terms)

    def windowed(self, depth):
        """Return rows with window functions over the unit's rows."""
        source, joins, scope, where = self._base(depth)
        unit = self._unit(scope)
        items = [Item(unit, UNIT)]
        items += [
            Item(self.any_value(scope, 0), f"c{number}")
            for number in range(self.pick((0, 1, 1, 2)))
        ]
        items += [
            Item(self._window(scope, unit), f"v{number}")
            for number in range(self.pick((1, 1, 2)))
        ]
        return Select(tuple(items), source, joins, where)

    def _window(self, scope, unit):
        partition = (unit,)
        if self.chance(0.2):
            partition = (unit, self.any_value(scope, 0))
        name = self.pick(
            ("row_number", "lag", "lead", "first_value", "last_value", "aggregate")
        )
        order = self._terms(scope, 0)
        if name == "row_number":
            return Window(Call(name, ()), partition, order)
        if name in {"lag", "lead"}:
            offset = self.pick(((), (1,), (2,)))
            value = self.any_value(scope, 1)
            return Window(Call(name, (value, *offset)), partition, order)
        frame = self._frame() if self.chance(0.5) else None
        if name != "aggregate":
            function = Call(name, (self.any_value(scope, 1),))
            return Window(function, partition, order, frame)
        aggregate = self._windowed_aggregate(scope)
        if self.chance(0.15):
            where = self.condition(scope, 0, subqueries=False)
            aggregate = replace(aggregate, where=where)
        return Window(aggregate, partition, order, frame)

    def _windowed_aggregate(self, scope):
        name = self.pick(("rows", "count", "sum", "min", "max", "bool_and", "bool_or"))
        if name == "rows":
            return Agg("count")
        if name.startswith("bool"):
            return Agg(name, self.boolean(scope))
        types = {"integer", "decimal", "date", "timestamp", "text"}
        wanted = {"sum": NUMBERS, "count": None}.get(name, types)
        return Agg(name, self.any_value(scope, 1, wanted))

    def _frame(self):
        start = self.pick((None, -2, -1, 0, 1))
        end = self.pick((None, -1, 0, 1, 2))
        if start is not None and end is not None and start > end:
            start, end = end, start
        return Frame(start, end)

    def first_rows(self, depth):
        """Return the first row, or rows, of each unit by ROW_NUMBER."""
        inner = self.windowed(depth)
        source, joins, scope, where = (inner.source, inner.joins, None, inner.where)
        unit = inner.items[0].expression
        scope = self._scope_again(source, joins)
        partition = (unit,)
        if self.chance(0.4):
            partition = (unit, self.any_value(scope, self.pick((0, 1))))
        number = Window(Call("row_number", ()), partition, self._terms(scope, 0))
        numbered = Select((*inner.items, Item(number, "rn")), source, joins, where)
        alias = self.alias()
        relation = self.world.bind(numbered, None)
        outer = Scope(self.world, entries_of(relation, alias))
        test = self.pick(
            (
                Compare("=", Col("rn"), Lit(self.pick((1, 1, 2)))),
                Compare("<=", Col("rn"), Lit(2)),
            )
        )
        if self.chance(0.3):
            test = And((test, self.condition(outer, 1)))
        items = tuple(Item(Col(name, alias)) for name in relation.names)
        return Select(items, Derived(numbered, alias), (), test)

    def _scope_again(self, source, joins):
        body = self.world.body(Select((), source, joins), None)
        return body.scope

    def united(self, depth):
        """Return a UNION ALL of two parts with equal types."""
        kinds = [
            self.pick(("integer", "date", "text", "boolean"))
            for _ in range(self.pick((1, 2)))
        ]
        parts = []
        for number in range(self.pick((2, 2, 3))):
            source, joins, scope, where = self._base(depth - 1)
            items = [Item(self._unit(scope), UNIT)]
            for place, kind in enumerate(kinds):
                value = self.any_value(scope, 1, {kind})
                name = f"u{place}" if number == 0 else f"x{place}"
                items.append(Item(value, name))
            parts.append(Select(tuple(items), source, joins, where))
        return UnionAll(tuple(parts))

    # -- conditions ------------------------------------------------------------

    def condition(self, scope, depth, *, subqueries=True):  # noqa: C901, PLR0911 - one return a kind
        if self.chance(0.04):
            return self._on_literals_alone()
        kinds = ["compare", "compare", "test", "boolean"]
        if depth > 0:
            kinds += ["and", "or", "not"]
            if subqueries:
                kinds += ["exists", "in", "public"]
        kind = self.pick(kinds)
        if kind in {"and", "or"}:
            parts = tuple(
                self.condition(scope, depth - 1, subqueries=subqueries)
                for _ in range(self.pick((2, 2, 3)))
            )
            return (And if kind == "and" else Or)(parts)
        if kind == "not":
            return Not(self.condition(scope, depth - 1, subqueries=subqueries))
        if kind == "exists":
            return self._exists(scope, depth)
        if kind == "in":
            return self._in_cohort(scope, depth)
        if kind == "public":
            return self._public_list(scope)
        return self._simple(scope, kind)

    def _on_literals_alone(self):
        """Return a condition that reads no row."""
        one, *others = (Lit(self.rng.randrange(3)) for _ in range(3))
        texts = [Lit(self.pick(("a", "b", "é"))) for _ in range(2)]
        found = (
            Lit(self.chance(0.5)),
            Compare(self.pick(OPERATORS), one, others[0]),
            Compare(self.pick(OPERATORS), *texts),
            Between(one, *others, self.chance(0.5)),
            InList(one, tuple(others), self.chance(0.5)),
        )
        return self.pick(found)

    def _simple(self, scope, kind):  # noqa: PLR0911 - one return a kind
        units = [e for e in scope.entries if e.info.type == "unit" and not e.hidden]
        if len(units) > 1 and self.chance(0.12):
            unit = self.pick(units)
            return IsNull(Col(unit.name, unit.table), self.chance(0.4))
        if kind == "boolean":
            return self.boolean(scope)
        value = self.any_value(scope, self.pick((0, 1, 1, 2)))
        info = compiled(value, scope)[1]
        if self.chance(0.06):
            truth = self.pick((True, False, None))
            return IsTruth(self._tested(value, info), truth, self.chance(0.5))
        if kind == "compare" and info.type != "boolean":
            wanted = NUMBERS if info.type in NUMBERS else {info.type}
            other = self.any_value(scope, self.pick((0, 1)), wanted, columns=True)
            if other != value and self.chance(0.2):
                return IsDistinct(value, other, self.chance(0.5))
            if other != value:
                return Compare(self.pick(OPERATORS), value, other)
        return self._tested(value, info)

    def _tested(self, value, info):  # noqa: C901, PLR0911, PLR0912 - one branch a kind
        """Return a test of a value against literals."""
        if info.type == "boolean":
            if self.chance(0.4):
                return IsNull(value, self.chance(0.5))
            if self.chance(0.3):
                return Compare(self.pick(("=", "<>")), value, Lit(self.chance(0.5)))
            return value if self.chance(0.5) else Not(value)
        negated = self.chance(0.3)
        kinds = ["compare", "compare", "between", "in", "null"]
        if info.type == "text":
            kinds += ["like", "like"]
        kind = self.pick(kinds)
        literal = [self.literal(info.type, info) for _ in range(3)]
        if kind == "compare":
            if self.chance(0.1):
                return IsDistinct(value, literal[0], negated)
            if self.chance(0.2):
                return Compare(self.pick(OPERATORS), literal[0], value)
            return Compare(self.pick(OPERATORS), value, literal[0])
        if kind == "between":
            return Between(value, literal[0], literal[1], negated)
        if kind == "in":
            return InList(value, tuple(literal[: self.pick((1, 2, 3))]), negated)
        if kind == "null":
            return IsNull(value, negated)
        return self._matched(value, negated)

    def _matched(self, value, negated):
        """Return LIKE, ILIKE, or a test of how a text begins, ends or matches."""
        if self.chance(0.6):
            pattern, folds = self.pick(hospital.PATTERNS), self.chance(0.2)
            return Like(value, pattern, negated, folds)
        name = self.pick(("starts_with", "ends_with", "contains", "regexp_like"))
        text = self.pick(("f", "n", "al", "ü", "京", "1"))
        if name == "regexp_like":
            text = self.pick(hospital.EXPRESSIONS)
        found = Call(name, (value, text))
        return Not(found) if negated else found

    def boolean(self, scope):
        """Return a boolean column or a test."""
        columns = self._columns(scope, {"boolean"})
        if columns and self.chance(0.5):
            return self.pick(columns)
        value = self.any_value(scope, 0)
        return self._tested(value, compiled(value, scope)[1])

    def _exists(self, scope, depth):
        """Return EXISTS tied by the unit key; it may read columns of any level."""
        outer = self._tie_of(scope)
        source, joins, inner = self.from_clause(0, parent=scope)
        tie = Compare("=", self._qualified_unit(inner), outer)
        parts = [tie]
        if self.chance(0.7):
            parts.append(self._across(inner))
        if depth > 1 and self.chance(0.4):
            nested = self._exists(inner, depth - 1)
            parts.append(nested if self.chance(0.6) else Not(nested))
        self.rng.shuffle(parts)
        where = And(tuple(parts)) if len(parts) > 1 else parts[0]
        items = (Item(Star() if self.chance(0.5) else Lit(1)),)
        found = Exists(Select(items, source, joins, where))
        return Not(found) if self.chance(0.4) else found

    def _tie_of(self, scope):
        units = [
            e for e in scope.entries if e.info.type == "unit" and not e.info.nullable
        ]
        entry = self.pick(units)
        return Col(entry.name, entry.table)

    def _qualified_unit(self, scope):
        return self._tie_of(scope)

    def _across(self, inner):
        """Return a condition between a column inside and one of an outer level."""
        outer = inner.parent
        if outer.parent is not None and self.chance(0.4):
            outer = outer.parent
        entry = self.pick([e for e in inner.entries if e.info.type not in _OPAQUE])
        wanted = NUMBERS if entry.info.type in NUMBERS else {entry.info.type}
        fitting = [e for e in outer.entries if e.info.type in wanted]
        mine = Col(entry.name, entry.table)
        if not fitting or entry.info.type == "boolean":
            return self.condition(inner, 0)
        other = self.pick(fitting)
        value = Col(other.name, other.table)
        if entry.info.type == "date" and self.chance(0.4):
            value = Arith(self.pick("+-"), value, Lit(self.pick((1, 30, 90))))
        return Compare(self.pick(OPERATORS), mine, value)

    def _in_cohort(self, scope, depth):
        """Return unit IN (SELECT unit ...), one item, uncorrelated."""
        unit = self._tie_of(scope)
        shape = self.pick(("plain", "rolled", "union"))
        source, joins, inner = self.from_clause(min(depth - 1, 1))
        where = self.condition(inner, depth - 1) if self.chance(0.7) else None
        key = self._unit(inner)
        query = Select((Item(key),), source, joins, where)
        if shape == "rolled":
            having = self._exact_having(inner)
            query = Select((Item(key),), source, joins, where, (key,), having)
        elif shape == "union":
            table, _, _ = self._table(self.pick(PRIVATE))
            query = UnionAll((query, Select((Item(Col(UNIT)),), table)))
        return InQuery(unit, query, self.chance(0.4))

    def _public_list(self, scope):
        name, key, kind = self.pick(
            (("wards", "ward", "text"), ("grades", "severity", "integer"))
        )
        columns = self._columns(scope, {kind})
        node, alias, relation = self._table(name)
        inner = Scope(self.world, entries_of(relation, alias), scope)
        own = Scope(self.world, entries_of(relation, alias))
        where = self.condition(own, 0) if self.chance(0.5) else None
        if self.chance(0.5):
            column = Col(key, alias)
            query = Select((Item(column),), node, (), where)
            return InQuery(self.pick(columns), query, self.chance(0.4))
        tie = Compare("=", Col(key, alias), self._clear(inner, self.pick(columns)))
        where = tie if where is None else And((tie, where))
        return Exists(Select((Item(Lit(1)),), node, (), where))

    def _clear(self, inner, column):
        """Return a column of an outer level that no inner name hides."""
        if column.table is None and inner.place(column.name, None) is not None:
            message = "hidden"
            raise NotAnswerableError(message)
        return column

    # -- values ----------------------------------------------------------------

    def _columns(self, scope, types=None):
        return [
            self._reference(scope, entry)
            for entry in scope.entries
            if entry.info.type not in _OPAQUE
            and (types is None or entry.info.type in types)
        ]

    def any_value(self, scope, depth, types=None, *, columns=False):
        """Return an expression of one of some types (None: any), never a literal."""
        if depth <= 0 or columns or self.chance(0.35):
            found = self._columns(scope, types)
            if found:
                return self.pick(found)
        if depth < -1 or not self._columns(scope):
            message = "too deep"
            raise NotAnswerableError(message)
        kinds = sorted(types or {"integer", "date", "text", "boolean", "decimal"})
        for _ in range(6):
            kind = self.pick(kinds)
            try:
                return self._made(scope, depth, kind)
            except NotAnswerableError:
                continue
        return self.pick(self._columns(scope, types))

    def _made(self, scope, depth, kind):
        if kind in _CAST_FROM and self.chance(0.15):
            return self._cast(scope, depth - 1, kind)
        makers = {
            "integer": self._integer,
            "decimal": self._decimal,
            "date": self._date,
            "text": self._text,
            "boolean": self._truth,
        }
        if kind not in makers or self.chance(0.2):
            return self._alternative(scope, depth, kind)
        return makers[kind](scope, depth - 1)

    def _cast(self, scope, depth, kind):
        """Return a value of another type, cast to this one."""
        wanted = self.pick(sorted(_CAST_FROM[kind]))
        value = self.any_value(scope, depth, {wanted})
        scale = None
        if kind == "decimal" and self.chance(0.7):
            scale = self.pick((0, 1, 3))
        cast = Cast(value, kind, scale)
        made = compiled(cast, scope)[1]
        if made.domain is None and kind == "decimal" and wanted == "text":
            message = "no list"
            raise NotAnswerableError(message)
        return cast

    def _integer(self, scope, depth):  # noqa: C901, PLR0911 - one return a kind
        kind = self.pick(
            (
                *("arith", "arith", "divide", "minus", "extract", "days", "diff"),
                *("age", "function", "function"),
            )
        )
        if kind == "arith":
            left = self.any_value(scope, depth, {"integer"})
            right = self._or_literal(scope, depth, "integer")
            sides = [left, right]
            self.rng.shuffle(sides)
            return Arith(self.pick("+-*"), *sides)
        if kind == "divide":
            left = self.any_value(scope, depth, {"integer"})
            right = self._or_literal(scope, depth, "integer", nonzero=True)
            if self.chance(0.4):
                return Divide(left, right)
            return Arith(self.pick("/%"), left, right)
        if kind == "minus":
            return Minus(self.any_value(scope, depth, {"integer"}))
        if kind == "function":
            return self._whole(scope, depth)
        if kind == "extract":
            return self._extract(scope, depth)
        start = self.any_value(scope, depth, {"date"})
        end = self._or_literal(scope, depth, "date")
        if kind == "days":
            return Arith("-", start, end)
        if kind == "age":
            name = self.pick(("age_years", "age_years", "timestampdiff"))
            parts = ("year", "month", "quarter", "week", "hour", "day")
            unit = () if name == "age_years" else (self.pick(parts),)
            return Call(name, (*unit, start, end))
        part = self.pick(("day", "month", "year", "quarter", "week"))
        pair = (start, end) if self.chance(0.5) else (end, start)
        return Call("date_diff", (part, *pair))

    def _whole(self, scope, depth):  # noqa: PLR0911 - one return a kind
        """Return an integer that a function makes of a number."""
        value = self.any_value(scope, depth, set(NUMBERS))
        kind = compiled(value, scope)[1].type
        names = ("rounded", "sign", "width_bucket", "abs", "mod", "extreme", "text")
        name = self.pick(names)
        if name == "text":
            text = self.any_value(scope, depth, {"text"})
            sought = (self.pick(("a", "er", "京")),)
            kind = self.pick(("length", "strpos"))
            return Call(kind, (text, *(sought if kind == "strpos" else ())))
        if name == "width_bucket":
            start, end = self.pick(((0, 10), (-3, 4), (0, 100), (Decimal("0.5"), 9)))
            ends = (Lit(start) if isinstance(start, Decimal) else start, end)
            return Call(name, (value, *ends, self.pick((1, 3, 10))))
        if name == "sign":
            return Call(name, (value,))
        if name == "rounded":
            name = self.pick(("floor", "ceil", "ceiling", "round", "trunc"))
            places = (self.pick((-1, -2, 0)),) if name in {"round", "trunc"} else ()
            return Call(name, (value, *places))
        if kind != "integer":
            message = "no integer"
            raise NotAnswerableError(message)
        if name == "abs":
            return Call(name, (value,))
        if name == "mod":
            right = self._or_literal(scope, depth, "integer", nonzero=True)
            return Call(name, (value, right))
        return self._extreme(scope, depth, {"integer"})

    def _extreme(self, scope, depth, kinds):
        """Return LEAST or GREATEST, or one of the other, of values and a literal."""
        value = self.any_value(scope, depth, kinds)
        kind = compiled(value, scope)[1].type
        rest = [self.literal(kind, None, typed=True)]
        if self.chance(0.4):
            rest.append(self.any_value(scope, 0, kinds))
        name, other = self.rng.sample(("least", "greatest"), 2)
        found = Call(name, (value, *rest))
        if self.chance(0.5):
            found = Call(other, (found, self.literal(kind, None, typed=True)))
        return found

    def _decimal(self, scope, depth):
        kind = self.pick(("arith", "arith", "divide", "minus", "round", "extreme"))
        value = self.any_value(scope, depth, {"decimal"})
        if kind == "minus":
            return Minus(value)
        if kind == "extreme":
            return self._extreme(scope, depth, {"decimal"})
        if kind == "round":
            name = self.pick(("round", "trunc"))
            return Call(name, (value, self.pick((1, 2, 3))))
        other = self.any_value(scope, depth, set(NUMBERS))
        if self.chance(0.5):
            pool = ("0.5", "-1.25", "10.0", "2.54", "3")
            other = Lit(Decimal(self.pick(pool)))
        sides = [value, other]
        self.rng.shuffle(sides)
        return Arith(self.pick("/%" if kind == "divide" else "+-*"), *sides)

    def _extract(self, scope, depth):
        moments = self._columns(scope, {"timestamp"})
        if moments and self.chance(0.5):
            part = self.pick(
                ("hour", "year", "month", "day", "isodow", "quarter", "minute", "week")
            )
            return Extract(part, self.pick(moments))
        part = self.pick(
            (
                "year",
                "quarter",
                "month",
                "day",
                "isodow",
                "dow",
                "doy",
                "week",
                "isoyear",
            )
        )
        return Extract(part, self.any_value(scope, depth, {"date"}))

    def _or_literal(self, scope, depth, kind, *, nonzero=False):
        if self.chance(0.5):
            literal = self.literal(kind, None, typed=True)
            if not (nonzero and literal.value == 0):
                return literal
        if kind == "date" and self.chance(0.2):
            return Today()
        return self.any_value(scope, depth, {kind})

    def _date(self, scope, depth):
        if self.chance(0.15):
            return self._extreme(scope, depth, {"date"})
        moments = self._columns(scope, {"timestamp"})
        if moments and self.chance(0.6):
            return Cast(self.pick(moments), "date")
        day = self.any_value(scope, depth, {"date"})
        if self.chance(0.4):
            return self._period(scope, depth, day)
        return Arith(self.pick("+-"), day, self._or_literal(scope, depth, "integer"))

    def _period(self, scope, depth, day):
        kind = self.pick(("trunc", "trunc", "months", "last"))
        if kind == "trunc":
            unit = self.pick(("day", "week", "month", "quarter", "year"))
            return Call("date_trunc", (unit, day))
        if kind == "last":
            return Call("last_day", (day,))
        return Call("add_months", (day, self._or_literal(scope, depth, "integer")))

    def _text(self, scope, depth):  # noqa: PLR0911 - one return a kind
        days = self._columns(scope, {"date"})
        if days and self.chance(0.2):
            pattern = self.pick(("YYYY-MM", "YYYY", "MM", "IYYY-IW", 'YYYY-"Q"Q'))
            return Call("to_char", (self.pick(days), pattern))
        codes = [
            column
            for column in self._columns(scope, {"text"})
            if scope.resolve(column)[2].hierarchy
        ]
        if codes and self.chance(0.6):
            return self._coded(scope, self.pick(codes))
        if self.chance(0.4):
            return self._part(scope, depth)
        if self.chance(0.6):
            return self._labels(scope, depth)
        value = self.any_value(scope, depth, {"integer"})
        ends = domains.hull(compiled(value, scope)[1].domain)
        if ends is None or ends[0] < 0 or ends[1] > 1000:
            message = "no band"
            raise NotAnswerableError(message)
        return Call("age_band", (value, self.pick((10, 5, 7, 100))))

    def _part(self, scope, depth):
        """Return a function of a text, or two texts in a row."""
        text = self.any_value(scope, depth, {"text"})
        name, *parameters = self.pick(
            (
                *(("upper",), ("lower",), ("trim",), ("left", 1), ("left", 3)),
                *(("right", 2), ("substring", 2), ("substring", 1, 2)),
                *(("replace", "a", "ää"), ("||",)),
                ("concat",),
            )
        )
        if name not in {"||", "concat"}:
            return Call(name, (text, *parameters))
        other = self._second(scope, depth, "text", compiled(text, scope)[1])
        if name == "||":
            return Arith("||", text, other)
        return Call("concat", (text, other))

    def _coded(self, scope, code):
        if scope.resolve(code)[2].hierarchy == "care":
            return Call("level", (code, self.pick(("kind", "place"))))
        name = self.pick(("icd_chapter", "icd_chapter", "icd_block", "icd_category"))
        return Call(name, (code,))

    def _truth(self, scope, depth):
        return self.condition(scope, min(depth, 1), subqueries=False)

    def _labels(self, scope, depth):
        labels = self.rng.sample(("old", "young", "süß", "other", ""), 3)
        count = self.pick((1, 2))
        otherwise = Lit(labels[2]) if self.chance(0.5) else None
        if self.chance(0.3):
            operand = self.any_value(scope, 0, {"integer", "text"})
            info = compiled(operand, scope)[1]
            branches = tuple(
                (self.literal(info.type, info), Lit(label)) for label in labels[:count]
            )
            return Case(operand, branches, otherwise)
        branches = tuple(
            (self.condition(scope, min(depth, 1), subqueries=False), Lit(label))
            for label in labels[:count]
        )
        return Case(None, branches, otherwise)

    def _alternative(self, scope, depth, kind):
        """Return COALESCE or CASE over values of one type."""
        first = self.any_value(scope, depth - 1, {kind})
        info = compiled(first, scope)[1]
        second = self._second(scope, depth, kind, info)
        if self.chance(0.15):
            return NullIf(first, second)
        if self.chance(0.5):
            return Coalesce((first, second))
        test = self.condition(scope, 0, subqueries=False)
        return Case(None, ((test, first),), second if self.chance(0.6) else None)

    def _second(self, scope, depth, kind, info):
        if self.chance(0.5):
            return self.literal(kind, info, typed=True)
        return self.any_value(scope, depth - 1, {kind})

    def literal(self, kind, info, *, typed=False):
        """Return a literal of a type, often one of the value's own domain."""
        inside = info is not None and info.domain and self.chance(0.5)
        if inside and not isinstance(info.domain[0], domains.Range):
            value = self.pick(info.domain[0])
        else:
            value = self.pick(_POOLS[kind])
        moment = isinstance(value, date)
        return Lit(value, typed=moment and (typed or self.chance(0.4)))


_OPAQUE = frozenset({"unit", "average"})
_CAST_FROM = {
    "boolean": {"integer", "decimal", "text"},
    "integer": {"boolean", "decimal", "text"},
    "decimal": {"boolean", "integer", "decimal"},
    "date": {"text"},
    "text": {"boolean", "integer", "decimal", "date"},
}
_POOLS = {
    "integer": (0, 1, 2, 3, -1, 7, 14, 60, 90, 120, *hospital.INTEGERS[-4:]),
    "decimal": tuple(
        map(Decimal, ("0", "1.5", "-0.5", "5.125", "10.005", "99.99", "10"))
    ),
    "date": (*hospital.DAY_POOL, *hospital.BIRTHS, date(1, 1, 1), date(9999, 12, 31)),
    "timestamp": hospital.MOMENTS,
    "text": (
        *hospital.NOTES,
        "icu",
        "er",
        "other",
        "f",
        "nord",
        "IV",
        "E10-E14",
        "0-9",
    ),
    "boolean": (True, False),
}


def entries_of(relation, alias):
    return tuple(
        Entry(name, alias, info)
        for name, info in zip(relation.names, relation.infos, strict=True)
    )


def _is_date(aggregate, scope):
    if aggregate.name not in {"median", "quantile"}:
        return False
    return compiled(aggregate.argument, scope)[1].type == "date"


# -- coverage ------------------------------------------------------------------


def constructs(query):
    """Return how often each construct stands in a query."""
    found = Counter()
    for node in tree.walk(query):
        found.update(_names(node))
    found["CTE"] += len(query.ctes)
    uses = Counter(n.name for n in tree.walk(query) if isinstance(n, TableRef))
    found["CTE used twice"] += sum(uses[name] > 1 for name, _ in query.ctes)
    return +found


def _names(node):  # noqa: C901, PLR0912, PLR0915 - one branch a kind
    """Return the constructs that a node is."""
    match node:
        case Agg():
            name = f"{node.name} distinct" if node.distinct else node.name
            yield f"aggregate {name}" if node.argument else "aggregate count(*)"
            if node.where is not None:
                yield "aggregate filter"
        case Window():
            framed = " framed" if node.frame else ""
            yield f"window {node.function.name}{framed}"
        case Call():
            yield f"function {node.name}"
        case Join():
            public = isinstance(node.source, TableRef) and node.source.name in (
                "wards",
                "grades",
            )
            yield f"{node.kind} join {'public' if public else 'private'}"
            if node.using:
                yield "join using"
        case Select():
            yield "select distinct" if node.distinct else "select"
            for clause in ("where", "group_by", "having", "order_by", "limit"):
                if getattr(node, clause):
                    yield clause
        case Case():
            yield "case operand" if node.operand else "case"
        case Exists():
            nested = any(isinstance(n, Exists) for n in tree.walk(node.query))
            yield "exists in exists" if nested else "exists"
        case Lit():
            yield f"literal {type(node.value).__name__}"
        case Extract():
            yield f"extract {node.part}"
        case Compare() | Arith():
            yield f"{type(node).__name__} {node.operator}"
        case Col() | Item() | TableRef() | OrderItem() | Query():
            pass
        case _:
            yield type(node).__name__


__all__ = ["Question", "constructs", "random_question"]
