"""Subqueries as joins that keep or drop a row: none is correlated in what is run.

EXISTS as a conjunct of a condition is a SEMI JOIN, NOT EXISTS an ANTI JOIN. Elsewhere
its truth is a column: the rows around it are numbered, and those that meet an inner row
are looked up by their number. What is held is never empty, as in other joins.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from query_lang.plans.expressions import (
    ExistsInQuery,
    Expression,
    UnitInQuery,
    ValueInQuery,
    slots_read,
)
from query_lang.plans.literals import NUMBERS
from query_lang.plans.nodes import PublicFilter, PublicScan, slots_of
from query_lang.rendering.duckdb.expressions import ExpressionRenderer, slot_name
from query_lang.rendering.duckdb.hashes import keyed_equality
from query_lang.rendering.duckdb.joins import Nodes, held
from query_lang.rendering.duckdb.pieces import Slots, select
from query_lang.rendering.fragments import Fragment, listed
from query_lang.rendering.subquery_forms import (
    ExistsParts,
    exists_parts,
    half_joins,
    looked_up_by_unit,
)

_ALL = (Fragment("*"),)


@dataclass(frozen=True, slots=True)
class SubqueryRenderer:
    """Renders the subqueries of one query."""

    nodes: Nodes
    numbers: Iterator[int]

    # -- conditions -----------------------------------------------------------

    def filtered(
        self,
        source: Fragment,
        slots: Slots,
        condition: Expression,
        shown: Iterable[Fragment],
    ) -> Fragment:
        """Return a relation's rows that meet a condition.

        Args:
            source: The relation, in brackets.
            slots: Its slots.
            condition: Of its rows.
            shown: What is kept of each row.
        """
        joins, rest = half_joins(condition)
        rendered = self.nodes.expressions(slots)
        test = None if rest is None else rendered.render(rest)
        source = rendered.wrapped(source)
        if not joins:
            return select([*shown], source, test)
        if test is not None:
            source = select(_ALL, source, test)
        for join in joins:
            kind = " ANTI JOIN " if join.anti else " SEMI JOIN "
            source += Fragment(kind) + self._matches(join.exists, slots)
        return select([*shown], source)

    def _matches(self, exists: ExistsInQuery, slots: Slots) -> Fragment:
        """Return the inner relation and ON, for outer rows with these slots."""
        parts = exists_parts(exists)
        on = _ties(exists)
        if parts.pairs is not None:
            both = slots | slots_of(parts.inner)
            rendered = self.nodes.expressions(both, names=False)
            on.append(rendered.render(parts.pairs))
            sides = slots, slots_of(parts.inner)
            on += keyed_equality(parts.pairs, sides, parts.inner, rendered)
        test = listed(on, " AND ") if on else Fragment("TRUE")
        return self._inner(exists, parts) + Fragment(" ON ") + test

    def _inner(self, exists: ExistsInQuery, parts: ExistsParts) -> Fragment:
        inner = parts.inner
        ties = frozenset(slot for slot, _ in exists.ties)
        read = [part for part in (parts.pairs, parts.nested) if part is not None]
        needed = ties.union(*map(slots_read, read)) & slots_of(inner)
        if isinstance(inner, PublicScan | PublicFilter):
            return self.nodes.node(inner, needed)
        return held(self.nodes, inner, needed, ties)

    # -- truth as a value -----------------------------------------------------

    def value(
        self,
        expression: UnitInQuery | ValueInQuery | ExistsInQuery,
        outer: ExpressionRenderer,
    ) -> Fragment:
        """Return the truth of a subquery for each row that ``outer`` renders."""
        match expression:
            case UnitInQuery(unit, query):
                owner = frozenset((query.owner,))
                inner = held(self.nodes, query, owner, owner)
                return _in(outer.render(unit), inner)
            case ValueInQuery(value, public, item):
                return self._value_in(value, public, item, outer)
            case ExistsInQuery():
                return self._exists(expression, outer)

    def _value_in(
        self,
        value: Expression,
        query: "PublicScan | PublicFilter",
        item: Expression,
        outer: ExpressionRenderer,
    ) -> Fragment:
        slots = slots_of(query)
        rendered = self.nodes.expressions(slots)
        if value.facts.type in NUMBERS:
            scale = max(value.facts.scale, item.facts.scale)
            sides = outer.scaled(value, scale), rendered.scaled(item, scale)
        else:
            sides = outer.render(value), rendered.render(item)
        source = rendered.wrapped(self.nodes.node(query, slots_read(item) & slots))
        return _in(sides[0], select([sides[1] + Fragment(" AS item")], source))

    def _exists(self, exists: ExistsInQuery, outer: ExpressionRenderer) -> Fragment:
        parts = exists_parts(exists)
        if not exists.outer:  # of a public table, and the same for every row
            inner = self._inner(exists, parts)
            return Fragment("EXISTS ") + select([Fragment("1 AS one")], inner)
        unit = looked_up_by_unit(exists)
        if unit is None:
            return outer.marked(exists)
        return _in(Fragment(slot_name(unit)), self._inner(exists, parts))

    def marked(
        self, marks: Mapping[ExistsInQuery, str], source: Fragment, slots: Slots
    ) -> Fragment:
        """Return a relation with a column for each EXISTS: whether the row meets one.

        Args:
            marks: Names of the columns.
            source: The relation, in brackets.
            slots: Its slots.
        """
        number = next(self.numbers)
        rows, row = f"o{number}", f"r{number}"
        made = [
            _in(Fragment(row), self._numbers_met(exists, slots, (rows, row)))
            + Fragment(f" AS {name}")
            for exists, name in marks.items()
        ]
        query = Fragment(f"(WITH {rows} AS MATERIALIZED ")
        query += select([*_ALL, Fragment(f"row_number() OVER () AS {row}")], source)
        query += Fragment(" SELECT ") + listed([*_ALL, *made])
        return query + Fragment(f" FROM {rows})")

    def _numbers_met(
        self, exists: ExistsInQuery, slots: Slots, names: tuple[str, str]
    ) -> Fragment:
        """Return the numbers of the rows that meet an inner row, and 0."""
        rows, row = names
        parts = exists_parts(exists)
        shown = [Fragment(row)]
        matches = self._matches(exists, slots)
        if parts.nested is None:
            met = select(shown, Fragment(f"{rows} SEMI JOIN ") + matches)
        else:
            pairs = select(_ALL, Fragment(f"{rows} INNER JOIN ") + matches)
            both = slots | slots_of(parts.inner)
            met = self.filtered(pairs, both, parts.nested, shown)
        return Fragment(f"{met.sql[:-1]} UNION ALL SELECT 0)", met.parameters)


def _ties(exists: ExistsInQuery) -> list[Fragment]:
    return [
        Fragment(f"{slot_name(inner)} = {slot_name(outer)}")
        for inner, outer in exists.ties
    ]


def _in(value: Fragment, inner: Fragment) -> Fragment:
    return Fragment("(") + value + Fragment(" IN ") + inner + Fragment(")")
