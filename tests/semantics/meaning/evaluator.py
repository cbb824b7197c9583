"""The meaning of a question in plain Python over rows, written from CONTRACT 1-3.

It shares nothing with ``query_lang``: no tree, no parser, no plan, no domains.
``evaluate(tree, tables, dataset, bounds)`` gives the cells and the exact vectors;
``present`` applies HAVING, ORDER BY and LIMIT to noisy vectors.

Rows are dicts: of a private table ``unit`` (any integer), ``row_hash``, ``row_rank``,
and the declared columns but the unit column; of a public table its columns, in the
order of the file. Decimals are Decimal, dates date, timestamps datetime.

Choices where the pages leave room (N in domains, T and W in relations):
 E1 max_groups_per_unit and max_rows_per_unit act before values outside the cells are
    dropped: a unit's row outside the cells can use up its bound.
 E2 COUNT(DISTINCT c) counts the values of c's domain alone.
 E3 COUNT(x) of a column that is never NULL is a vector of its own, not COUNT(*)'s.
 E4 COUNT(DISTINCT unit key) is one vector whichever side's key is named, unless the
    key is that of a LEFT JOIN's nullable side; then it is a vector of that column.
 E5 Histograms are one vector when argument and bins are equal; bins that are one a
    value are equal whatever ``bins`` was written. MEDIAN is QUANTILE(x, 0.5).
 E6 Values outside a histogram's bounds are dropped (none exists: columns are clamped).
 E7 HAVING and ORDER BY see an AVG or a QUANTILE as an exact fraction (clamped to its
    bounds), not as its six digits; a QUANTILE of dates as its day. So the text shown
    can look equal to a literal that ``=`` calls different.
 E8 Keys come in the order of GROUP BY, the first slowest; COUNT(DISTINCT x) of a
    roll-up has the domain [0, k] as COUNT(x) has.
 E9 the cells of a CASE or COALESCE whose alternatives are ranges list their values
    in order of appearance; arithmetic and SUM over it use its least and greatest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product

from privacy.contributions import NO_BOUNDS
from tests.semantics.meaning import domains, moments, numbers, tree
from tests.semantics.meaning.domains import Info
from tests.semantics.meaning.expressions import (
    compiled,
    compiled_all,
    narrowed,
    without_idle_rounding,
)
from tests.semantics.meaning.queries import (
    World,
    aggregates_in,
    output_name,
    resolved_key,
)
from tests.semantics.meaning.scopes import NotAnswerableError, Scope
from tests.semantics.meaning.values import to_grid

CELL_LIMIT = 10_000
MOST_TRIED = 4_000
PLAIN = tree.Col | tree.Lit | tree.Compare | tree.Between | tree.InList | tree.IsNull
DEFAULT_BINS = 64


@dataclass(frozen=True)
class Codes:
    """A hierarchy handed in.

    Attributes:
        levels: Public values of each level in published order; None where a level is
            read in conditions only.
        codes: Upper-case code without dots -> {level: value}.
    """

    levels: Mapping[str, tuple[str, ...] | None]
    codes: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    most_bytes: int | None = None

    def value(self, code, level):
        """Return the code's value on a level, None for what is no code."""
        if self.most_bytes is not None and len(code.encode()) > self.most_bytes:
            return None
        return self.codes.get(code.upper().replace(".", ""), {}).get(level)


def own_codes(hierarchy):
    """Return a custodian's hierarchy, its levels in the order of its file."""
    levels = {
        level: tuple(
            dict.fromkeys(
                found[place] for found in hierarchy.codes.values() if found[place]
            )
        )
        for place, level in enumerate(hierarchy.levels)
    }
    codes = {
        code.upper().replace(".", ""): dict(zip(hierarchy.levels, found, strict=True))
        for code, found in hierarchy.codes.items()
    }
    most = 2 * max(len(code.encode()) for code in hierarchy.codes)
    return Codes(levels, codes, most)


@dataclass(frozen=True)
class Bins:
    """Of a histogram, on the grid of its column."""

    lower: int
    upper: int
    count: int
    one_per_value: bool

    def place(self, steps):
        """Return the bin of a value, None outside."""
        if not self.lower <= steps <= self.upper:
            return None
        if self.one_per_value:
            return steps - self.lower
        place = (steps - self.lower) * self.count // (self.upper - self.lower)
        return min(place, self.count - 1)


@dataclass(frozen=True)
class Vector:
    """A distinct measured vector: what a cell's rows give, ``size`` integers."""

    identity: tuple
    size: int
    of_rows: object  # rows -> list of integers


def evaluate(query, tables, dataset, bounds=NO_BOUNDS, hierarchies=None):
    """Return (cells, vectors) of a query over rows; see ``Prepared``."""
    prepared = Prepared(query, tables, dataset, bounds, hierarchies)
    return prepared.cells, prepared.exact_vectors()


def present(query, dataset, noisy, bounds=NO_BOUNDS, hierarchies=None):
    """Return the rows of the answer to given noisy vectors: post-processing alone."""
    tables = {name: [] for name in dataset.tables}
    return Prepared(query, tables, dataset, bounds, hierarchies).presented(noisy)


def _holds_where(node):
    if isinstance(node, tuple | list):
        return any(map(_holds_where, node))
    if isinstance(node, tree.Select) and node.where is not None:
        return True
    return any(map(_holds_where, tree.children(node))) if is_dataclass(node) else False


def _holds_computed(node):
    if isinstance(node, tuple | list):
        return any(map(_holds_computed, node))
    if isinstance(node, tree.Select):
        items = (item.expression for item in node.items)
        if not all(isinstance(item, tree.Col | tree.Star) for item in items):
            return True
    return (
        any(map(_holds_computed, tree.children(node))) if is_dataclass(node) else False
    )


def _is_difference(node):
    if isinstance(node, tree.Call):
        return node.name == "date_diff"
    return isinstance(node, tree.Arith) and node.operator == "-"


def _differences_in(node):
    """Return the names of differences in derived tables."""
    if isinstance(node, tuple | list):
        return {name for part in node for name in _differences_in(part)}
    if not is_dataclass(node):
        return set()
    found = _differences_in(tree.children(node))
    items = node.items if isinstance(node, tree.Select) else ()
    return found | {i.alias for i in items if _is_difference(i.expression)}


def _sides(condition):
    """Yield what comparisons within a condition compare, literals left out.

    Those of subqueries are of other rows.
    """
    for part in parts_of(condition, inner=False):
        match part:
            case tree.Compare(_, left, right):
                sides = [left, right]
            case tree.Between(value, low, high):
                sides = [value, low, high]
            case tree.InList(value, items):
                sides = [value, *items]
            case _:
                continue
        yield [s for s in sides if not isinstance(s, tree.Lit | int | str | tree.Today)]


class Prepared:
    """A query over rows.

    Attributes:
        cells: Key tuples in declared order, first key slowest, NULL last.
        vectors: Distinct, in order of the SELECT list, then HAVING, then ORDER BY.
        names: Of the output columns.
    """

    def __init__(self, query, tables, dataset, bounds, hierarchies=None):
        self._bounds = bounds
        self._units = {t.unit_column for t in dataset.tables.values()} - {None}
        own = {name: own_codes(h) for name, h in dataset.hierarchies.items()}
        world = World(tables, dataset, bounds, {**(hierarchies or {}), **own})
        for name, common in query.ctes:
            world.define(name, common)
        select = self.select = query.select
        below = [select.source, *(j.source for j in select.joins)], query.ctes
        self._filters_below = _holds_where(below)
        self._computed_below = _holds_computed(below)
        self._body = world.body(select, None)
        scope = self.scope = self._body.scope
        self._keys = [resolved_key(k, select.items, scope) for k in select.group_by]
        self._key_functions, self._key_infos = compiled_all(self._keys, scope)
        self._aggregates = aggregates_in(self._shown())
        self.vectors = list(self._distinct_vectors())
        self._differences = _differences_in(below)
        self._require_listed_keys()
        self._lists = [self._listed(info) for info in self._key_infos]
        self.cells = list(product(*self._lists))
        largest = max(vector.size for vector in self.vectors)
        if len(self.cells) * largest > CELL_LIMIT:
            message = "too many cells"
            raise NotAnswerableError(message)
        self.names = [output_name(item) for item in select.items]

    def _listed(self, info):
        if not domains.can_be_listed(info, CELL_LIMIT):
            message = f"a key has no cells: {info}"
            raise NotAnswerableError(message)
        return [*domains.listed(info), *([None] if info.nullable else [])]

    def _require_listed_keys(self):
        """Refuse the days between two dates as a key that conditions compare."""
        compared = [side for sides in _sides(self.select.where) for side in sides]
        names = {self.scope.canonical(side) for side in compared}
        for key in self._keys:
            derived = isinstance(key, tree.Col) and key.name in self._differences
            if not derived and not _is_difference(key):
                continue
            if self._filters_below or self.scope.canonical(key) in names:
                message = "cells of a difference are those that conditions leave"
                raise NotAnswerableError(message)

    def _shown(self):
        select = self.select
        having = [] if select.having is None else [select.having]
        order = [
            resolved_key(term.expression, select.items, self.scope)
            for term in select.order_by
        ]
        return [*(item.expression for item in select.items), *having, *order]

    # -- measuring -------------------------------------------------------------

    def exact_vectors(self):
        """Return one list of integers a vector: cell by cell, bin by bin."""
        places = {cell: [] for cell in self.cells}
        for row in self._bounded(self._body.run(())):
            cell = self._cell(row)
            if cell in places:  # a value outside the cells is dropped
                places[cell].append(row)
        return [
            [n for cell in self.cells for n in vector.of_rows(places[cell])]
            for vector in self.vectors
        ]

    def _cell(self, row):
        return tuple(key((row.values,)) for key in self._key_functions)

    def _bounded(self, rows):
        """Apply the bounds after filters: groups first, then rows."""
        most_rows = self._bounds.max_rows_per_unit
        most_groups = self._bounds.max_groups_per_unit
        units = {}
        for row in sorted(rows, key=lambda row: row.tie):
            units.setdefault(row.owner, []).append(row)
        for own in units.values():
            groups = list(dict.fromkeys(self._cell(row) for row in own))[:most_groups]
            kept = [row for row in own if self._cell(row) in groups]
            yield from kept[:most_rows]

    def _distinct_vectors(self):
        seen = set()
        for aggregate in self._aggregates:
            for vector in self._vectors_of(aggregate):
                if vector.identity not in seen:
                    seen.add(vector.identity)
                    yield vector

    def _vectors_of(self, aggregate):  # noqa: C901, PLR0911 - one return a kind
        """Return the vectors that show one aggregate."""
        if aggregate.where is not None and aggregate.name in {"median", "quantile"}:
            held = tree.Case(None, ((aggregate.where, aggregate.argument),), None)
            return self._vectors_of(replace(aggregate, where=None, argument=held))
        if aggregate.where is not None:
            test, _ = compiled(aggregate.where, self.scope)
            name = self.scope.canonical(aggregate.where)
            plain = self._vectors_of(replace(aggregate, where=None))
            return [_filtered_vector(vector, test, name) for vector in plain]
        if aggregate.argument is None:
            return [Vector(("rows",), 1, lambda rows: [len(rows)])]
        if aggregate.name in moments.NAMES:
            found = moments.vectors(self._centred(aggregate), aggregate.name)
            return [Vector(identity, 1, of_rows) for identity, of_rows in found]
        counted, aggregate = aggregate.argument, self._on_coarser_grid(aggregate)
        value, info = compiled(aggregate.argument, self.scope)
        name = self._identity(aggregate.argument)
        if aggregate.distinct:
            return [_distinct_vector(value, info, name)]
        if aggregate.name in {"median", "quantile"}:
            info = self._where_it_holds(aggregate.argument, info)
            return [_histogram(value, info, name, bins_of(aggregate, info))]
        if aggregate.name == "count":
            return [_count_vector(value, info, name)]
        total = _sum_vector(value, info, name)
        if aggregate.name == "sum":
            return [total]
        return [total, _count_vector(value, info, self._identity(counted))]

    def _on_coarser_grid(self, aggregate):
        """Round what is added up, where a unit's could be of more than 2**30 steps."""
        _, info = compiled(aggregate.argument, self.scope)
        ends = domains.hull(info.domain) if info.type == "decimal" else None
        if aggregate.name not in {"sum", "avg"} or ends is None:
            return aggregate
        if self._places(info) < info.scale:
            held = aggregate.argument
            if aggregate.where is not None:
                held = tree.Case(None, ((aggregate.where, held),), None)
            info = self._where_it_holds(held, info)
        places = self._places(info)
        if places == info.scale:
            return aggregate
        rounded = tree.Call("round", (aggregate.argument, places))
        return replace(aggregate, argument=rounded)

    def _places(self, info):
        places, ends = info.scale, domains.hull(info.domain)
        most = max(abs(Fraction(end)) for end in ends) * self._body.rows_per_unit
        while places and most * 10**places > 2**30:
            places -= 1
        return places

    def _identity(self, argument):
        """Return what measured expressions share exactly when they are the same."""
        return self.scope.canonical(without_idle_rounding(argument, self.scope))

    def _centred(self, aggregate):
        """Return the arguments of a variance or correlation."""
        arguments = [aggregate.argument, aggregate.other]
        most = self._body.rows_per_unit
        self._require_no_filters_below("the bounds of a variance")
        found = []
        for argument in arguments:
            if argument is not None:
                value, info = compiled(argument, self.scope)
                info = self._where_it_holds(argument, info)
                name = self._identity(argument)
                found.append(moments.Centred.of(value, info, name, most))
        return tuple(found)

    def _where_it_holds(self, argument, info):
        """Return what WHERE leaves of a value's bounds, if more than one value.

        By the value itself, and by the columns that it is computed of. What follows
        from parts of it, from two columns or from tables below is not worked out.
        """
        joined = [
            j.on
            for j in self.select.joins
            if j.kind != "left" and not self._is_tie(j.on)
        ]
        held = [c for c in (self.select.where, *joined) if c is not None]
        self._require_plain(argument, held)
        if not held:
            return info
        where = held[0] if len(held) == 1 else tree.And(tuple(held))
        branch = tree.Case(None, ((where, argument),), None)
        (left,) = narrowed(branch, [info], self.scope)
        narrow = compiled(argument, self._narrow_scope(where))[1]
        ends = domains.hull(narrow.domain)
        left = left if ends is None else numbers.within(left, ends) or left
        ends = domains.hull(left.domain)
        return info if ends is None or ends[0] == ends[1] else left

    def _is_tie(self, on):
        """Whether a condition equates unit keys alone: it bounds nothing."""
        match on:
            case tree.Compare("=", tree.Col(name), tree.Col(other)):
                return name == other and name in self._units
        return False

    def _narrow_scope(self, where):
        def left_of(entry):
            branch = tree.Case(
                None, ((where, tree.Col(entry.name, entry.table)),), None
            )
            return narrowed(branch, [entry.info], self.scope)[0]

        entries = [replace(e, info=left_of(e)) for e in self.scope.entries]
        return Scope(self.scope.world, entries, self.scope.parent)

    def _require_plain(self, argument, held):
        """Refuse bounds that may follow from more than a value and its columns."""
        if held or self._filters_below:
            self._require_no_filters_below("bounds")
            if self._computed_below:
                message = "bounds may follow of what is computed further in"
                raise NotAnswerableError(message)
        for condition in held:
            for sides in _sides(condition):
                if not all(self._is_plain(s, argument, len(sides)) for s in sides):
                    message = "bounds may follow from parts of a value"
                    raise NotAnswerableError(message)
        for part in parts_of(argument):
            if isinstance(part, tree.Case):
                self._require_plain_branches(part)

    def _is_plain(self, side, argument, sides):
        """Whether a side of a comparison bounds a value as ``narrowed`` has it."""
        if isinstance(side, tree.Col) and sides == 1:
            return compiled(side, self.scope)[1].type != "timestamp"
        is_own = self.scope.canonical(side) == self.scope.canonical(argument)
        return is_own or not self._columns(argument) & self._columns(side)

    def _require_plain_branches(self, case):
        results = [r for _, r in case.branches] + [case.otherwise]
        said = [s for c, _ in case.branches for sides in _sides(c) for s in sides]
        names = {self.scope.canonical(side) for side in said}
        read = {column for side in said for column in self._columns(side)}
        for result in results:
            computed = self.scope.canonical(result) not in names
            if result is not None and computed and self._columns(result) & read:
                message = "bounds may follow from conditions of a branch"
                raise NotAnswerableError(message)

    def _columns(self, node):
        columns = (part for part in parts_of(node) if isinstance(part, tree.Col))
        return {self.scope.canonical(column) for column in columns}

    # -- presenting ------------------------------------------------------------

    def presented(self, noisy):
        """Return the shown rows: keys as they are, measures as CONTRACT 3 writes."""
        slots = {}
        for place, (key, info) in enumerate(
            zip(self._keys, self._key_infos, strict=True)
        ):
            slots.setdefault(self.scope.canonical(key), (place, info))
        measures = []
        for aggregate in self._aggregates:
            name = self.scope.canonical(aggregate)
            if name not in slots:
                measure = self._measure(aggregate)
                slots[name] = (len(self._keys) + len(measures), measure.info)
                measures.append(measure)
        by_identity = dict(zip((v.identity for v in self.vectors), noisy, strict=True))
        rows = [
            (*cell, *(m.value(place, by_identity) for m in measures))
            for place, cell in enumerate(self.cells)
        ]
        return self._select(rows, slots, measures)

    def _select(self, rows, slots, measures):
        scope = self.scope.over(slots, grouped=True)
        if self.select.having is not None:
            test, _ = compiled(self.select.having, scope)
            rows = [row for row in rows if test((row,)) is True]
        for term in reversed(self.select.order_by):
            rows = self._ordered(rows, term, scope)
        if self.select.limit is not None:
            left = self._left_by_where()
            rows = [row for row in rows if left(row)][: self.select.limit]
        places = [
            scope.slots[scope.canonical(resolved_key(i.expression, (), scope))][0]
            for i in self.select.items
        ]
        writers = [lambda value: value] * len(self._keys) + [m.text for m in measures]
        return [tuple(writers[p](row[p]) for p in places) for row in rows]

    def _require_no_filters_below(self, what):
        """Refuse what conditions of derived tables narrow, too: these are not read."""
        if self._filters_below:
            message = f"{what} may follow from conditions further in"
            raise NotAnswerableError(message)

    def _left_by_where(self):
        """Return whether WHERE can leave rows in a cell: what LIMIT counts."""
        self._require_no_filters_below("the cells of LIMIT")
        where = self.select.where
        if where is None:
            return lambda _: True

        def left_of(node, info):
            branch = tree.Case(None, ((where, node),), None)
            (found,) = narrowed(branch, [info], self.scope)
            said = found.domain != info.domain
            return replace(found, nullable=False) if said else info

        entries = [
            replace(e, info=left_of(tree.Col(e.name, e.table), e.info))
            for e in self.scope.entries
        ]
        narrow = Scope(self.scope.world, entries, self.scope.parent)
        allowed = []
        for key, info, declared in zip(
            self._keys, self._key_infos, self._lists, strict=True
        ):
            found = set(declared)
            for known in (left_of(key, info), compiled(key, narrow)[1]):
                if domains.can_be_listed(known, CELL_LIMIT):
                    found &= {*domains.listed(known), *([None] * known.nullable)}
            found &= self._tried(key, where, declared)
            allowed.append(found if found - {None} else set(declared))
        return lambda row: all(
            row[place] in values for place, values in enumerate(allowed)
        )

    def _tried(self, key, where, declared):
        """Return what a key is at the values of its column that WHERE may let through.

        A column itself is tried under plain comparisons. How many other keys and
        conditions can be computed without an engine, CONTRACT 3 leaves open: where
        those would leave fewer values, no answer is known.
        """
        columns = {part for part in parts_of(key) if isinstance(part, tree.Col)}
        read = {part for part in parts_of(where) if isinstance(part, tree.Col)}
        places = {self.scope.resolve(column)[:2] for column in columns}
        touched = {self.scope.resolve(column)[:2] for column in read}
        if len(places) != 1 or not places & touched:
            return set(declared)
        (column,) = {self.scope.resolve(column) for column in columns}
        info = column[2]
        if not domains.can_be_listed(info, MOST_TRIED):
            message = "codes of a hierarchy may be tried, or what has too many values"
            raise NotAnswerableError(message)
        tried = [*domains.listed(info), *([None] if info.nullable else [])]
        value, _ = compiled(key, self.scope)
        sure, most = (
            {
                value(self._row(column, v))
                for v in tried
                if True in self._truths(where, column, v, plain=plain)
            }
            for plain in (True, False)
        )
        if not isinstance(key, tree.Col):
            sure = set(declared)
        if sure & set(declared) != most & set(declared):
            message = "a condition may be computed for each value, or not"
            raise NotAnswerableError(message)
        return most

    def _row(self, column, value):
        level, place, _ = column
        row = [None] * (place + 1 + len(self.scope.entries))
        row[place] = value
        return {level: row}

    def _truths(self, node, column, value, *, plain):
        """Return which of the three a condition may be where a column is a value."""

        def of(part):
            return self._truths(part, column, value, plain=plain)

        if isinstance(node, tree.Not):
            return {None if truth is None else not truth for truth in of(node.item)}
        if isinstance(node, tree.And | tree.Or):
            decides = isinstance(node, tree.Or)
            return {
                decides if decides in found else None if None in found else not decides
                for found in product(*map(of, node.items))
            }
        parts = list(parts_of(node))
        own = all(
            self.scope.resolve(part)[:2] == column[:2]
            for part in parts
            if isinstance(part, tree.Col)
        )
        known = own and all(isinstance(part, tree.Expr) for part in parts)
        if plain:
            known = known and all(isinstance(part, PLAIN) for part in parts)
        if not known:
            return {True, False, None}
        test, _ = compiled(node, self.scope)
        return {test(self._row(column, value))}

    def _ordered(self, rows, term, scope):
        """Sort by one term, stable: a key by declared order, a measure by value."""
        node = resolved_key(term.expression, self.select.items, self.scope)
        place = scope.slots[scope.canonical(node)][0]
        rank = _identity
        if place < len(self._keys):
            rank = self._lists[place].index
        nulls = [row for row in rows if row[place] is None]
        rest = [row for row in rows if row[place] is not None]
        rest.sort(key=lambda row: rank(row[place]), reverse=term.descending)
        return nulls + rest if term.nulls_first else rest + nulls

    def _measure(self, aggregate):
        identities = [v.identity for v in self._vectors_of(aggregate)]
        info = None
        if aggregate.argument is not None:
            aggregate = self._on_coarser_grid(aggregate)
            _, info = compiled(aggregate.argument, self.scope)
        if aggregate.name in moments.NAMES:
            columns = self._centred(aggregate)
            return Moment(aggregate.name, columns, tuple(identities))
        if aggregate.name in {"avg", "median", "quantile"}:
            info = self._where_it_holds(aggregate.argument, info)
        if aggregate.name == "avg":
            return AverageMeasure(*identities, info)
        if aggregate.name in {"median", "quantile"}:
            fraction = Fraction(aggregate.fraction or Decimal("0.5"))
            bins = bins_of(aggregate, info)
            return QuantileMeasure(identities[0], fraction, bins, info)
        scale = info.scale if aggregate.name == "sum" else 0
        return NumberMeasure(identities[0], scale)


def parts_of(node, *, inner=True):
    """Yield a node and all nodes in it, those of subqueries where ``inner``."""
    if is_dataclass(node) and (inner or not isinstance(node, tree.Exists)):
        yield node
        for each in fields(node):
            if inner or each.name != "query":
                yield from parts_of(getattr(node, each.name), inner=inner)
    elif isinstance(node, tuple):
        for each in node:
            yield from parts_of(each, inner=inner)


def _identity(value):
    return value


# -- vectors -------------------------------------------------------------------


def values_of(value, rows):
    found = (value((row.values,)) for row in rows)
    return [v for v in found if v is not None]


def _filtered_vector(vector, test, name):
    """Return a vector of the rows for which a test is TRUE."""

    def of_rows(rows):
        return vector.of_rows([row for row in rows if test((row.values,)) is True])

    return Vector((*vector.identity, "where", name), vector.size, of_rows)


def _count_vector(value, info, name):
    identity = ("count", name)
    return Vector(identity, 1, lambda rows: [len(values_of(value, rows))])


def _sum_vector(value, info, name):
    if domains.hull(info.domain) is None:
        message = "SUM needs finite bounds"
        raise NotAnswerableError(message)
    return Vector(
        ("sum", name),
        1,
        lambda rows: [sum(to_grid(v, info.scale) for v in values_of(value, rows))],
    )


def _distinct_vector(value, info, name):
    if info.type == "unit":
        identity = ("units", name) if info.nullable else ("units",)
        return Vector(identity, 1, lambda rows: [len(set(values_of(value, rows)))])
    if info.domain is None:
        message = "COUNT(DISTINCT) needs a public domain"
        raise NotAnswerableError(message)

    def counted(rows):
        found = set(values_of(value, rows))
        return [sum(domains.holds(info.domain, v) for v in found)]

    return Vector(("distinct", name), 1, counted)


def bins_of(aggregate, info):
    """Return the bins of a QUANTILE."""
    ends = domains.hull(info.domain)
    if ends is None:
        message = "QUANTILE needs finite bounds"
        raise NotAnswerableError(message)
    lower, upper = (to_grid(end, info.scale) for end in ends)
    count = aggregate.bins or DEFAULT_BINS
    if info.type == "integer" and upper - lower + 1 <= count:
        return Bins(lower, upper, upper - lower + 1, one_per_value=True)
    if upper == lower:
        message = "QUANTILE over one value"
        raise NotAnswerableError(message)
    return Bins(lower, upper, count, one_per_value=False)


def _histogram(value, info, name, bins):
    def counted(rows):
        counts = [0] * bins.count
        for found in values_of(value, rows):
            place = bins.place(to_grid(found, info.scale))
            if place is not None:
                counts[place] += 1
        return counts

    return Vector(("histogram", name, bins), bins.count, counted)


# -- measures shown ------------------------------------------------------------


def six_digits(value):
    """Write a fraction with six digits, half to even; zero has no sign."""
    return in_digits(value, 6)


def in_digits(value, digits):
    """Write a fraction with so many digits, half to even."""
    steps = round(value * 10**digits)
    sign = "-" if steps < 0 else ""
    whole, rest = divmod(abs(steps), 10**digits)
    return f"{sign}{whole}.{rest:0{digits}d}"


@dataclass(frozen=True)
class NumberMeasure:
    """A count or a sum."""

    identity: tuple
    scale: int

    @property
    def info(self):
        kind = "decimal" if self.scale else "integer"
        return Info(kind, nullable=False, scale=self.scale)

    def value(self, place, noisy):
        steps = noisy[self.identity][place]
        return Decimal(steps).scaleb(-self.scale) if self.scale else steps

    def text(self, value):
        return f"{value:.{self.scale}f}" if self.scale else value


@dataclass(frozen=True)
class AverageMeasure:
    """Noisy sum by noisy count: NULL below 1, clamped to the bounds."""

    sum_identity: tuple
    count_identity: tuple
    argument: Info

    info = Info("average", nullable=True)

    def value(self, place, noisy):
        count = noisy[self.count_identity][place]
        if count < 1:
            return None
        total = Fraction(noisy[self.sum_identity][place], 10**self.argument.scale)
        low, high = domains.hull(self.argument.domain)
        return max(Fraction(low), min(Fraction(high), total / count))

    def text(self, value):
        return None if value is None else six_digits(value)


@dataclass(frozen=True)
class Moment(moments.MomentMeasure):
    """A variance or correlation, written with six digits or more."""

    def text(self, value):
        return None if value is None else in_digits(value, self.digits)


@dataclass(frozen=True)
class QuantileMeasure:
    """From a noisy histogram."""

    identity: tuple
    fraction: Fraction
    bins: Bins
    argument: Info

    @property
    def info(self):
        kind = "date" if self.argument.type == "date" else "average"
        return Info(kind, nullable=True)

    def value(self, place, noisy):
        size = self.bins.count
        own = noisy[self.identity][place * size : (place + 1) * size]
        steps = self._steps([max(0, count) for count in own])
        if steps is None:
            return None
        if self.argument.type == "date":
            return date(1970, 1, 1) + timedelta(days=steps.__floor__())
        return steps / 10**self.argument.scale

    def _steps(self, counts):
        """Return the quantile in steps of the grid, None if the total is below 1."""
        target = self.fraction * sum(counts)
        reached = Fraction(0)
        for place, count in enumerate(counts):
            if count and reached + count >= target:
                return self._inside(place, (target - reached) / count)
            reached += count
        return None

    def _inside(self, place, part):
        bins = self.bins
        if bins.one_per_value:
            return Fraction(bins.lower + place)
        width = Fraction(bins.upper - bins.lower, bins.count)
        return bins.lower + (place + part) * width

    def text(self, value):
        if value is None:
            return None
        return value.isoformat() if isinstance(value, date) else six_digits(value)


__all__ = ["Codes", "NotAnswerableError", "Prepared", "evaluate", "present", "tree"]
