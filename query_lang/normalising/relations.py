"""Nodes of a plan to numbered sources and one condition.

What a derived table computes is written into what reads it, its WHERE joins the one
above, and tables joined on the unit key stand in one order wherever no order of rows
can be seen. Proof: docs/proofs/normal_form.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from privacy.schema import ColumnType, Table
from query_lang.normalising.conditions import Conditions, chain
from query_lang.normalising.expressions import TermReader, units_equal
from query_lang.normalising.terms import Term, digest_of, term
from query_lang.normalising.value_sets import Parameter
from query_lang.plans.expressions import (
    ExistsInQuery,
    Expression,
    Facts,
    UnitInQuery,
    ValueInQuery,
)
from query_lang.plans.nodes import (
    BoundContributions,
    Compute,
    Filter,
    Item,
    Node,
    Order,
    PublicFilter,
    PublicJoin,
    PublicNode,
    PublicScan,
    Rollup,
    Scan,
    Union,
    UnitJoin,
    Windowed,
    WindowItem,
)

_TRUE_OR_FALSE: Final = Facts(ColumnType.BOOLEAN, nullable=False)
UNIT: Final = term("unit", (), Facts(ColumnType.INTEGER, nullable=False, constant=True))
"""The unit key of the row's owner: the same in all tables that are joined on it."""
_ORDERED_KINDS: Final = frozenset({"row_number", "lag", "lead", "first", "last"})
"""Functions whose value may rest on which of two like rows comes first."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows of numbered sources for which a condition is TRUE.

    Attributes:
        sources: What is joined, each a digest of what it is.
        condition: Of all rows; never NULL matters in it.
        columns: What each slot is, over the sources.
    """

    sources: tuple[str, ...]
    condition: Term
    columns: Mapping[int, Term]

    @property
    def key(self) -> str:
        """Return a digest that is equal for equal rows."""
        return digest_of(["rows", self.sources, self.condition.key])


@dataclass(frozen=True, slots=True)
class _Source:
    """One source and what its slots are called within it; ``UNIT`` is the owner."""

    key: str
    names: Mapping[int, tuple[Parameter, Facts]]
    units: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Outer:
    """A LEFT join: its right side, and when a row of it is met."""

    source: _Source
    tie: tuple[int, int] | None
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class _Kept:
    """Rows are kept for which a condition is TRUE."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class _Computed:
    """Rows get further slots."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class _Tie:
    """Rows are kept whose two unit keys are equal."""

    left: int
    right: int


_Step = _Kept | _Computed | _Tie | _Outer


@dataclass(frozen=True, slots=True)
class _Joined:
    """Sources that are joined INNER, and what is done to their rows, in order."""

    sources: tuple[_Source, ...]
    steps: tuple[_Step, ...]


class RelationReader:
    """Reads the nodes of one question."""

    def __init__(self) -> None:
        self.conditions = Conditions()

    def read(  # noqa: PLR0911 - an arm a form
        self,
        node: Node | PublicNode,
        *,
        ordered: bool = False,
        outer: TermReader | None = None,
    ) -> Relation:
        """Return a node's rows.

        Args:
            node: Of a plan.
            ordered: Whether which of two like rows comes first can be seen above.
            outer: Of the rows around, in a subquery.
        """
        match node:
            case Filter(child, condition) | PublicFilter(child, condition):
                rows = self.read(child, ordered=ordered, outer=outer)
                return self._filtered(rows, [condition], outer)
            case Compute(child, items):
                rows = self.read(child, ordered=ordered, outer=outer)
                return self._computed(rows, items, outer)
            case Windowed(child, items):
                kinds = {item.kind for item in items}
                seen = ordered or bool(kinds & _ORDERED_KINDS) or _have_frames(items)
                rows = self.read(child, ordered=seen, outer=outer)
                return self._windowed(rows, items, outer)
            case BoundContributions(child):
                rows = self.read(child, ordered=True, outer=outer)
                return self._bounded(rows, node)
            case _:
                joined = self._joined(node, ordered=ordered)
                return self._placed(joined, ordered=ordered, outer=outer)

    def reader(self, rows: Relation, outer: TermReader | None = None) -> TermReader:
        """Return what reads expressions over some rows."""
        return TermReader(rows.columns, self, self.conditions, outer)

    def kept(self, rows: Relation, *conditions: Term) -> Relation:
        """Return the rows for which all these hold too."""
        both = chain("and", (rows.condition, *conditions))
        return replace(rows, condition=self.conditions.holding(both))

    def _filtered(
        self, rows: Relation, found: Sequence[Expression], outer: TermReader | None
    ) -> Relation:
        reader = self.reader(rows, outer)
        return self.kept(rows, *(reader.holds(condition) for condition in found))

    def _computed(
        self, rows: Relation, items: Sequence[Item], outer: TermReader | None
    ) -> Relation:
        reader = self.reader(rows, outer)
        made = {slot: reader.read(value) for slot, value in items}
        return replace(rows, columns={**rows.columns, **made})

    # -- windows, roll-ups, bounds, unions --------------------------------------

    def _windowed(
        self, rows: Relation, items: Sequence[WindowItem], outer: TermReader | None
    ) -> Relation:
        reader = self.reader(rows, outer)
        made = {item.slot: _window(reader, rows, item) for item in items}
        return replace(rows, columns={**rows.columns, **made})

    def _bounded(self, rows: Relation, node: BoundContributions) -> Relation:
        keys = sorted(rows.columns[slot].key for slot in node.keys)
        most = node.max_groups, node.max_rows
        bound = term("bounded", (), _TRUE_OR_FALSE, rows.key, keys, *most)
        return self.kept(rows, bound)

    def _rollup(self, node: Rollup, *, ordered: bool) -> _Source:
        seen = ordered or any(item.kind in _ORDERED_KINDS for item in node.items)
        rows = self.read(node.child, ordered=seen)
        reader = self.reader(rows)
        names: dict[int, tuple[Parameter, Facts]] = {}
        keys: list[str] = []
        for slot, value in node.keys:
            key = reader.read(value)
            keys.append(key.key)
            names[slot] = ["key", key.key], key.facts
        for item in node.items:
            value_term = None if item.value is None else reader.read(item.value)
            kind = item.kind
            if kind == "count" and value_term and not value_term.facts.nullable:
                kind, value_term = "count_rows", None
            shown = None if value_term is None else value_term.key
            order = _order(reader, item.order) if kind in _ORDERED_KINDS else []
            name = ["value", kind, shown, order, item.saturates]
            nullable = not kind.startswith("count")
            is_alone = not node.keys  # one row of each unit
            facts = Facts(ColumnType.INTEGER, nullable=nullable, constant=is_alone)
            names[item.slot] = name, facts
        own = digest_of(["rollup", rows.key, sorted(set(keys))])
        return _Source(own, names, frozenset({node.owner}))

    def _union(self, node: Union, *, ordered: bool) -> _Source:
        parts: list[tuple[str, list[Term]]] = []
        for part in node.parts:
            rows = self.read(part.node, ordered=ordered)
            reader = self.reader(rows)
            parts.append((rows.key, [reader.read(item) for item in part.items]))
        if not ordered:
            parts.sort(key=lambda part: (part[0], [item.key for item in part[1]]))
        names: dict[int, tuple[Parameter, Facts]] = {}
        units = {node.owner}
        for place, slot in enumerate(node.columns):
            items = [found[place] for _, found in parts]
            facts = replace(items[0].facts, nullable=True, constant=False, domain=None)
            names[slot] = [item.key for item in items], facts
            if all(item.key == UNIT.key for item in items):
                units.add(slot)
        key = digest_of(["union", [rows_key for rows_key, _ in parts]])
        return _Source(key, names, frozenset(units))

    # -- joins ------------------------------------------------------------------

    def _joined(self, node: Node | PublicNode, *, ordered: bool) -> _Joined:  # noqa: PLR0911 - an arm a form
        match node:
            case Filter(child, condition):
                return _then(self._joined(child, ordered=ordered), _Kept(condition))
            case Compute(child, items):
                return _then(self._joined(child, ordered=ordered), _Computed(items))
            case UnitJoin(left, right) if not node.outer:
                one = self._joined(left, ordered=ordered)
                other = self._side(right, ordered=ordered)
                tie = _Tie(node.left_unit, node.right_unit)
                steps = (*one.steps, *other.steps, tie)
                return _Joined(one.sources + other.sources, steps)
            case UnitJoin(left, right):
                source = self._source(right, ordered=ordered)
                tied = node.left_unit, node.right_unit
                outer = _Outer(source, tied, node.condition)
                return _then(self._joined(left, ordered=ordered), outer)
            case PublicJoin(left, right) if not node.outer:
                one = self._joined(left, ordered=ordered)
                sources = (*one.sources, _public(right))
                return _Joined(sources, (*one.steps, _Kept(node.condition)))
            case PublicJoin(left, right):
                outer = _Outer(_public(right), None, node.condition)
                return _then(self._joined(left, ordered=ordered), outer)
            case _:
                return _Joined((self._source(node, ordered=ordered),), ())

    def _side(self, node: Node, *, ordered: bool) -> _Joined:
        """Return the right side of a join: a LEFT join in it is a source of its own."""
        found = self._joined(node, ordered=ordered)
        if any(isinstance(step, _Outer) for step in found.steps):
            return _Joined((self._sealed(node, ordered=ordered),), ())
        return found

    def _source(self, node: Node | PublicNode, *, ordered: bool) -> _Source:  # noqa: PLR0911 - an arm a form
        match node:
            case Scan():
                return _scan(node)
            case PublicScan():
                return _public(node)
            case Rollup():
                return self._rollup(node, ordered=ordered)
            case Union():
                return self._union(node, ordered=ordered)
            case _:
                return self._sealed(node, ordered=ordered)

    def _sealed(self, node: Node | PublicNode, *, ordered: bool) -> _Source:
        """Return a node's rows as one source whose columns are called by their keys."""
        rows = self.read(node, ordered=ordered)
        units = {slot for slot, one in rows.columns.items() if one.key == UNIT.key}
        names: dict[int, tuple[Parameter, Facts]] = {
            slot: (one.key, one.facts) for slot, one in rows.columns.items()
        }
        return _Source(digest_of(["sealed", rows.key]), names, frozenset(units))

    def _placed(
        self, joined: _Joined, *, ordered: bool, outer: TermReader | None
    ) -> Relation:
        """Return joined rows with their sources numbered."""
        sources = list(joined.sources)
        if not ordered:
            sources.sort(key=lambda source: source.key)
        columns: dict[int, Term] = {}
        for number, source in enumerate(sources):
            columns |= _columns(source, number)
        truth = chain("and", ())
        rows = Relation(tuple(source.key for source in sources), truth, columns)
        for step in joined.steps:
            rows = self._taken(rows, step, outer)
        return rows

    def _taken(
        self,
        rows: Relation,
        step: _Step,
        outer: TermReader | None,
    ) -> Relation:
        match step:
            case _Kept(condition):
                return self._filtered(rows, [condition], outer)
            case _Computed(items):
                return self._computed(rows, items, outer)
            case _Tie(left, right):
                equal = units_equal(rows.columns[left], rows.columns[right])
                return self.kept(rows, self.conditions.holding(equal))
            case _Outer():
                return self._left_joined(rows, step, outer)

    def _left_joined(
        self, rows: Relation, step: _Outer, outer: TermReader | None
    ) -> Relation:
        number = len(rows.sources)
        met = _columns(step.source, number, head="matched", constant=False)
        both = {**rows.columns, **met}
        reader = TermReader(both, self, self.conditions, outer)
        conditions: list[Term] = []
        if step.tie is not None:
            conditions += [units_equal(*(reader.slot(slot) for slot in step.tie))]
        if step.condition is not None:
            conditions.append(reader.read(step.condition))
        on = self.conditions.holding(chain("and", conditions))
        key = digest_of(["left", step.source.key, on.key])
        # All rows of a unit are extended alike where nothing but the unit key is asked.
        alike = step.tie is not None and step.condition is None
        made = _columns(step.source, number, nullable=True, constant=alike)
        return replace(
            rows, sources=(*rows.sources, key), columns={**rows.columns, **made}
        )

    # -- subqueries -------------------------------------------------------------

    def exists(self, expression: ExistsInQuery, around: TermReader) -> Term:
        """Return EXISTS as a term."""
        rows = self.read(expression.query, outer=around)
        reader = self.reader(rows, around)
        ties = [
            _tie(reader.slot(inner), around.slot(outer))
            for inner, outer in expression.ties
        ]
        if expression.condition is not None:
            ties.append(reader.holds(expression.condition))
        return _exists(self.kept(rows, *ties))

    def unit_in(self, expression: UnitInQuery, around: TermReader) -> Term:
        """Return ``unit IN (SELECT unit ...)``: EXISTS with the units tied."""
        rows = self.read(_without_groups(expression.query), outer=around)
        return _exists(self.kept(rows, _tie(UNIT, around.slot(expression.unit.slot))))

    def value_in(self, expression: ValueInQuery, around: TermReader) -> Term:
        """Return ``value IN (SELECT item FROM public ...)`` as a term."""
        value = around.read(expression.value)
        rows = self.read(expression.query, outer=around)
        item = self.reader(rows, around).read(expression.item)
        return term("in_query", (value,), expression.facts, rows.key, item.key)


def _then(joined: _Joined, step: _Step) -> _Joined:
    return replace(joined, steps=(*joined.steps, step))


def _without_groups(node: Node) -> Node:
    """Return rows of the same units: a group is there where one of its rows is."""
    while isinstance(node, Compute | Rollup):
        node = node.child
    return node


def _exists(rows: Relation) -> Term:
    return term("exists", (rows.condition,), _TRUE_OR_FALSE, list(rows.sources))


def _tie(inner: Term, outer: Term) -> Term:
    return units_equal(inner, term("outer", (outer,), outer.facts))


def _columns(
    source: _Source,
    number: int,
    *,
    head: str = "column",
    nullable: bool = False,
    constant: bool = True,
) -> dict[int, Term]:
    """Return what the slots of a source are, as the ``number``th of its relation."""
    made: dict[int, Term] = {}
    for slot, (name, facts) in source.names.items():
        known = replace(
            facts,
            nullable=facts.nullable or nullable,
            constant=facts.constant and constant,
        )
        made[slot] = term(head, (), known, number, name)
    own = UNIT
    if head == "matched" or nullable:
        facts = Facts(ColumnType.INTEGER, nullable=nullable)
        own = term(head, (), facts, number, "unit key")
    made.update(dict.fromkeys(source.units, own))
    return made


def _scan(node: Scan) -> _Source:
    bound = None if node.max_rows is None else node.rows_per_unit
    is_alone = node.rows_per_unit == 1
    names = dict(_names(node.table, node.first_slot, constant=is_alone))
    key = digest_of(["table", node.table.name, bound])
    return _Source(key, names, frozenset({node.owner}))


def _public(node: PublicScan) -> _Source:
    names = dict(_names(node.table, node.first_slot))
    return _Source(digest_of(["table", node.table.name, None]), names, frozenset())


def _names(
    table: Table, first: int, *, constant: bool = False
) -> Iterator[tuple[int, tuple[Parameter, Facts]]]:
    for number, column in enumerate(table.columns):
        facts = Facts(
            column.type,
            column.scale,
            nullable=column.nullable,
            constant=constant or (column.constant_in_unit and not table.is_public),
            domain=column.domain,
        )
        yield first + number, (["name", column.name], facts)


def _have_frames(items: Sequence[WindowItem]) -> bool:
    """Whether a window reads some of its partition's rows, which an order picks."""
    return any(i.start.offset is not None or i.end.offset is not None for i in items)


def _window(reader: TermReader, rows: Relation, item: WindowItem) -> Term:
    parts = sorted({reader.read(each).key for each in item.partition})
    value = None if item.value is None else reader.read(item.value)
    kind = item.kind
    if kind == "count" and value is not None and not value.facts.nullable:
        kind, value = "count_rows", None
    frame: list[Parameter] = [item.start.offset, item.end.offset]
    if kind in {"row_number", "lag", "lead"}:
        frame = []
    is_whole = frame == [None, None] and kind not in _ORDERED_KINDS
    order = [] if is_whole else _order(reader, item.order)
    nullable = kind not in {"row_number", "count_rows", "count", "count_distinct"}
    facts = Facts(ColumnType.INTEGER, nullable=nullable)
    shown = None if value is None else value.key
    told = (kind, shown, parts, order, frame, item.offset, item.saturates)
    return term("column", (), facts, "window", rows.key, *told)


def _order(reader: TermReader, order: Sequence[Order]) -> list[Parameter]:
    return [
        [reader.read(each.value).key, each.descending, each.nulls_first]
        for each in order
    ]
