"""Relational nodes as DuckDB SQL: each a derived table of exactly the wanted slots.

Stored layout: a private table has ``unit_key``, ``row_hash`` and ``row_rank`` beside
its declared columns; a public one has ``_row``, its rows' number; decimals are scaled
BIGINTs. The text of a query never gets here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from privacy.schema import Column, Hierarchy, Table
from query_lang.plans.expressions import (
    Expression,
    FieldRef,
    slots_read,
)
from query_lang.plans.intervals import MAX_INTEGER, MIN_INTEGER
from query_lang.plans.nodes import (
    BoundContributions,
    Compute,
    Filter,
    Node,
    Order,
    PublicFilter,
    PublicJoin,
    PublicNode,
    PublicScan,
    Rollup,
    RollupItem,
    Scan,
    Union,
    UnionPart,
    UnitJoin,
    Windowed,
    WindowItem,
    slots_of,
    tie_break,
)
from query_lang.rendering.duckdb.expressions import (
    ExpressionRenderer,
    RenderContext,
    slot_name,
)
from query_lang.rendering.duckdb.hashes import count_distinct, group_terms
from query_lang.rendering.duckdb.joins import public_join, unit_join
from query_lang.rendering.duckdb.pieces import Slots, columns, names, read_by, select
from query_lang.rendering.duckdb.subqueries import SubqueryRenderer
from query_lang.rendering.fragments import Fragment, for_each_row, identifier, listed
from query_lang.rendering.keyed_hashes import is_keyed
from query_lang.rendering.pipelines import comes_in_parts
from query_lang.rendering.placed_filters import placed
from query_lang.rendering.stored_forms import made_for_each
from query_lang.syntax.nodes import Position

UNIT_KEY, ROW_HASH, ROW_RANK, PUBLIC_ROW = "unit_key", "row_hash", "row_rank", "_row"


@dataclass(slots=True)
class NodeRenderer:
    """Renders the nodes of one query, and notes the tables that it reads."""

    own: Mapping[str, Hierarchy]
    position: Position
    tables: Counter[str] = field(default_factory=Counter)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def expressions(self, allowed: Slots, *, names: bool = True) -> ExpressionRenderer:
        """Return a renderer of expressions over rows with these slots."""
        context = RenderContext(self.own, self.position, self.subqueries)
        return ExpressionRenderer(context, allowed, names)

    @property
    def subqueries(self) -> SubqueryRenderer:
        """Return what renders subqueries."""
        return SubqueryRenderer(self, self.numbers)

    def node(self, node: Node | PublicNode, wanted: Slots) -> Fragment:  # noqa: C901, PLR0911, PLR0912 - an arm a form
        """Return a derived table in brackets with the wanted slots as columns.

        Args:
            node: What to render.
            wanted: Slots of the node's rows that are read above.
        """
        match node:
            case Scan() | PublicScan():
                return self._scan(node, wanted)
            case Filter():
                return self._placed(placed(node), wanted)
            case PublicFilter():
                return self._filter(node, wanted)
            case Compute():
                return self._compute(node, wanted)
            case Windowed():
                return self._windowed(node, wanted)
            case Rollup():
                return self._rollup(node, wanted)
            case UnitJoin():
                return unit_join(self, node, wanted)
            case PublicJoin():
                return public_join(self, node, wanted)
            case Union():
                return self._union(node, wanted)
            case BoundContributions():
                return self._bounded(node, wanted)

    # -- tables ---------------------------------------------------------------

    def gathered(self, node: Node, wanted: Slots) -> Fragment:
        """Return a relation whose rows come from one part, to be put in groups.

        The right side of a cross product is kept whole before its rows go on.
        """
        below = self.node(node, wanted)
        if not comes_in_parts(node):
            return below
        one = Fragment("(SELECT 1) AS one CROSS JOIN ") + below
        return select(names(wanted), one)

    def _scan(self, node: Scan | PublicScan, wanted: Slots) -> Fragment:
        table = node.table
        self.tables[table.name] += 1
        own = {
            node.first_slot + number: _column(table, column)
            for number, column in enumerate(table.columns)
        }
        if isinstance(node, Scan):
            own[node.owner] = _as_stored(UNIT_KEY)  # alike in one unit's rows alone
            own[node.hash_slot] = _as_stored(ROW_HASH)  # never alike
        else:
            own[node.row_slot] = _as_stored(PUBLIC_ROW)
        shown = [
            own[slot] + Fragment(f" AS {slot_name(slot)}") for slot in sorted(wanted)
        ]
        query = Fragment("(SELECT ") + columns(shown)
        query += Fragment(f" FROM {identifier(table.name)}")
        if isinstance(node, Scan) and node.max_rows is not None:
            query += Fragment(" WHERE ") + for_each_row(_as_stored(ROW_RANK))
            query += Fragment(" <= ?", (node.max_rows,))
        return query + Fragment(")")

    # -- rows -----------------------------------------------------------------

    def _placed(self, node: Node, wanted: Slots) -> Fragment:
        if isinstance(node, Filter):
            return self._filter(node, wanted)
        return self.node(node, wanted)

    def _filter(self, node: Filter | PublicFilter, wanted: Slots) -> Fragment:
        own = slots_of(node.child)
        below = self.node(node.child, (wanted | slots_read(node.condition)) & own)
        shown = names(wanted)
        return self.subqueries.filtered(below, own, node.condition, shown)

    def _compute(self, node: Compute, wanted: Slots) -> Fragment:
        own = slots_of(node.child)
        items = [(slot, value) for slot, value in node.items if slot in wanted]
        rendered = self.expressions(own)
        made = [
            rendered.render(value) + Fragment(f" AS {slot_name(slot)}")
            for slot, value in items
        ]
        kept = wanted & own
        below = self.node(
            node.child, (kept | read_by(value for _, value in items)) & own
        )
        return select([*names(kept), *made], rendered.wrapped(below))

    # -- windows --------------------------------------------------------------

    def _windowed(self, node: Windowed, wanted: Slots) -> Fragment:
        child = node.child
        own = slots_of(child)
        items = [item for item in node.items if item.slot in wanted]
        ties = tie_break(child)
        rendered = self.expressions(own)
        made = [
            self._window(item, child, ties, rendered)
            + Fragment(f" AS {slot_name(item.slot)}")
            for item in items
        ]
        kept = wanted & own
        read = read_by(part for item in items for part in _parts(item))
        needs_order = any(_is_ordered(item) for item in items)
        below_wanted = kept | read | {child.owner} | set(ties if needs_order else ())
        below = self.node(child, frozenset(below_wanted) & own)
        source = select([*names(kept), *made], rendered.wrapped(below))
        cut = {item.slot for item in items if _must_saturate(item)}
        return _saturated(source, wanted, cut)

    def _window(
        self,
        item: WindowItem,
        child: Node,
        ties: tuple[int, ...],
        rendered: ExpressionRenderer,
    ) -> Fragment:
        value = None if item.value is None else rendered.render(item.value)
        within = [Fragment(slot_name(child.owner))]
        within += [rendered.render(part) for part in item.partition]
        over = Fragment(" OVER (PARTITION BY ") + listed(within)
        if _is_ordered(item):
            terms = [*_order(item.order, rendered), *_ties(ties)]
            if terms:
                over += Fragment(" ORDER BY ") + listed(terms)
        if item.kind not in {"row_number", "lag", "lead"}:
            over += Fragment(_frame(item))
        return _window_call(item, value) + over + Fragment(")")

    # -- roll-ups ----------------------------------------------------------------------

    def _rollup(self, node: Rollup, wanted: Slots) -> Fragment:
        child = node.child
        own = slots_of(child)
        items = [item for item in node.items if item.slot in wanted]
        ties = tie_break(child)
        rendered = self.expressions(own)
        keys = [
            rendered.render(value) + Fragment(f" AS {slot_name(slot)}")
            for slot, value in node.keys
        ]
        facts = [value.facts for _, value in node.keys]
        made = [
            _aggregate(node, item, rendered) + Fragment(f" AS {slot_name(item.slot)}")
            for item in items
        ]
        least, unpacked, read_least = _least(node, wanted)
        read = read_by(
            [
                *(value for _, value in node.keys),
                *(part for item in items for part in _parts(item)),
            ]
        )
        ordered = any(item.kind in {"first", "last"} for item in items)
        needed = read | {node.owner} | set(read_least) | set(ties if ordered else ())
        below = rendered.wrapped(self.gathered(child, frozenset(needed) & own))
        keyed = _keyed(below, keys)
        grouped_slots = frozenset((node.owner, *(slot for slot, _ in node.keys)))
        shown = [*names(wanted & grouped_slots), *made, *least]
        grouped = Fragment("(SELECT ") + columns(shown) + Fragment(" FROM ") + keyed
        terms = group_terms(
            [Fragment(slot_name(slot)) for slot, _ in node.keys],
            facts,
            keyed=is_keyed(child.rows_per_unit, facts),
        )
        owner = Fragment(slot_name(node.owner))
        grouped += Fragment(" GROUP BY ") + listed([owner, *terms]) + Fragment(")")
        cut = {item.slot for item in items if _must_saturate(item)}
        return _saturated(grouped, wanted, cut, unpacked)

    # -- UNION ALL ------------------------------------------------------------

    def _union(self, node: Union, wanted: Slots) -> Fragment:
        parts = [
            self._union_part(node, part, number, wanted)
            for number, part in enumerate(node.parts, 1)
        ]
        return Fragment("(") + listed(parts, " UNION ALL ") + Fragment(")")

    def _union_part(
        self, node: Union, part: UnionPart, number: int, wanted: Slots
    ) -> Fragment:
        own = slots_of(part.node)
        identity = part.node.identity
        given: dict[int, FieldRef | int | None] = {node.owner: part.node.owner}
        given |= dict(zip(node.columns, _refs(part), strict=True))
        for above, below in (
            (node.own.hashes, identity.hashes),
            (node.own.parts, identity.parts),
            (node.own.public_rows, identity.public_rows),
        ):
            padded = [*below, *([None] * (len(above) - len(below)))]
            given |= dict(zip(above, padded, strict=True))
        shown = [
            Fragment(f"{_given(given, slot, node.part, number)} AS {slot_name(slot)}")
            for slot in sorted(wanted)
        ]
        found = (_slot_of(given[slot]) for slot in wanted if slot in given)
        read = frozenset(slot for slot in found if slot is not None)
        query = select(shown, self.node(part.node, read & own))
        return Fragment(query.sql[1:-1], query.parameters)

    # -- bounds ---------------------------------------------------------------

    def _bounded(self, node: BoundContributions, wanted: Slots) -> Fragment:
        """Number each unit's groups, then its rows, and keep the first of each."""
        child, owner = node.child, slot_name(node.owner)
        ties = tie_break(child)
        needed = wanted | {node.owner, *ties, *node.keys}
        source = self.node(child, needed & slots_of(child))
        source = _windowed(
            source,
            f"ROW_NUMBER() OVER (PARTITION BY {owner} "
            f"ORDER BY {', '.join(t.sql for t in _ties(ties))})",
            "row_place",
        )
        if node.max_groups is not None:
            keys = [owner, *map(slot_name, node.keys)]
            within = f"OVER (PARTITION BY {', '.join(keys)})"
            source = _windowed(source, f"MIN(row_place) {within}", "group_first")
            numbered = f"OVER (PARTITION BY {owner} ORDER BY group_first)"
            source = _windowed(source, f"DENSE_RANK() {numbered}", "group_place")
            test = Fragment("group_place <= ?", (node.max_groups,))
            source = select([Fragment("*")], source, test)
        if node.max_rows is not None and node.max_groups is not None:
            numbered = f"OVER (PARTITION BY {owner} ORDER BY row_place)"
            source = _windowed(source, f"ROW_NUMBER() {numbered}", "kept_place")
        place = "kept_place" if node.max_groups is not None else "row_place"
        rows = node.max_rows
        kept = None if rows is None else Fragment(f"{place} <= ?", (rows,))
        return select(names(wanted), source, kept)


# -- pieces of SQL -----------------------------------------------------------


def _as_stored(name: str) -> Fragment:
    return Fragment(identifier(name))


def _column(table: Table, column: Column) -> Fragment:
    stored = _as_stored(column.name)
    return for_each_row(stored) if made_for_each(table, column) else stored


def _windowed(source: Fragment, window: str, name: str) -> Fragment:
    return select([Fragment("*"), Fragment(f"{window} AS {name}")], source)


def _keyed(below: Fragment, keys: Sequence[Fragment]) -> Fragment:
    """Compute the keys of a roll-up below it, under their own slots."""
    if not keys:
        return below
    return select([Fragment("*"), *keys], below)


def _parts(item: WindowItem | RollupItem) -> list[Expression]:
    parts = [] if item.value is None else [item.value]
    parts += [order.value for order in item.order]
    if isinstance(item, WindowItem):
        parts += item.partition
    return parts


def _is_ordered(item: WindowItem) -> bool:
    """Whether the order of rows can matter to a window."""
    whole = item.start.offset is None and item.end.offset is None
    ordered = {"row_number", "lag", "lead", "first", "last"}
    return item.kind in ordered or not whole


def _order(orders: tuple[Order, ...], rendered: ExpressionRenderer) -> list[Fragment]:
    terms: list[Fragment] = []
    for order in orders:
        direction = "DESC" if order.descending else "ASC"
        nulls = "FIRST" if order.nulls_first else "LAST"
        value = rendered.render(order.value)
        terms.append(value + Fragment(f" {direction} NULLS {nulls}"))
    return terms


def _ties(ties: tuple[int, ...]) -> list[Fragment]:
    return [Fragment(f"{slot_name(slot)} ASC NULLS FIRST") for slot in ties]


def _frame(item: WindowItem) -> str:
    start, end = item.start.offset, item.end.offset
    begin = "UNBOUNDED PRECEDING" if start is None else _edge(start)
    finish = "UNBOUNDED FOLLOWING" if end is None else _edge(end)
    return f" ROWS BETWEEN {begin} AND {finish}"


def _edge(offset: int) -> str:
    if offset == 0:
        return "CURRENT ROW"
    return f"{abs(offset)} {'PRECEDING' if offset < 0 else 'FOLLOWING'}"


_CALLS = {
    "count": "COUNT",
    "sum": "SUM",
    "min": "MIN",
    "max": "MAX",
    "bool_and": "BOOL_AND",
    "bool_or": "BOOL_OR",
}


def _window_call(item: WindowItem, value: Fragment | None) -> Fragment:
    if value is None:
        counts = item.kind == "count_rows"
        return Fragment("COUNT(*)" if counts else "ROW_NUMBER()")
    if item.kind in {"lag", "lead"}:
        name = item.kind.upper()
        return Fragment(f"{name}(") + value + Fragment(f", {item.offset})")
    names = {**_CALLS, "first": "FIRST_VALUE", "last": "LAST_VALUE"}
    return Fragment(f"{names[item.kind]}(") + value + Fragment(")")


def _aggregate(
    node: Rollup, item: RollupItem, rendered: ExpressionRenderer
) -> Fragment:
    if item.value is None:
        return Fragment("COUNT(*)")
    if item.kind == "count_distinct":
        return _count_distinct(node, item.value, rendered)
    value = rendered.render(item.value)
    if item.kind in {"first", "last"}:
        terms = [*_order(item.order, rendered), *_ties(tie_break(node.child))]
        ordered = Fragment(" ORDER BY ") + listed(terms)
        return Fragment(f"{item.kind.upper()}(") + value + ordered + Fragment(")")
    return Fragment(f"{_CALLS[item.kind]}(") + value + Fragment(")")


def _count_distinct(
    node: Rollup, value: Expression, rendered: ExpressionRenderer
) -> Fragment:
    known = [key.facts for _, key in node.keys]
    keyed = is_keyed(node.child.rows_per_unit, [*known, value.facts])
    own = rendered.named(value) if keyed else rendered.render(value)
    return count_distinct(own, value.facts, keyed=keyed)


def _must_saturate(item: WindowItem | RollupItem) -> bool:
    """Whether a sum is to be cut to 64 bits."""
    return item.kind == "sum" and item.saturates


def _saturated(
    source: Fragment,
    wanted: Slots,
    cut: set[int],
    unpacked: Mapping[int, str] | None = None,
) -> Fragment:
    """Clamp sums to 64 bits, by value; NULL stays NULL."""
    made = unpacked or {}
    if not cut and not made:
        return source
    shown: list[Fragment] = []
    for slot in sorted(wanted):
        name = slot_name(slot)
        if slot in cut:
            held = f"LEAST(GREATEST({name}, {MIN_INTEGER}), {MAX_INTEGER})"
            text = f"CASE WHEN {name} IS NULL THEN NULL ELSE CAST({held} AS BIGINT) END"
            shown.append(Fragment(f"{text} AS {name}"))
        elif slot in made:
            shown.append(Fragment(f"{made[slot]} AS {name}"))
        else:
            shown.append(Fragment(name))
    return select(shown, source)


def _least(
    node: Rollup, wanted: Slots
) -> tuple[list[Fragment], dict[int, str], tuple[int, ...]]:
    """Return the least identity of each group, how to unpack it, and what it reads.

    A struct compares field by field; each part is told from NULL by a flag in front of
    it, so that NULL comes first.
    """
    above, below = node.least.slots(), node.child.identity.slots()
    if not wanted & set(above):
        return [], {}, ()
    if len(below) == 1:
        (own,), (source,) = above, below
        return [Fragment(f"MIN({slot_name(source)}) AS {slot_name(own)}")], {}, below
    fields = ", ".join(
        f"f{place} := ({slot_name(slot)} IS NOT NULL), "
        f"v{place} := COALESCE({slot_name(slot)}, 0)"
        for place, slot in enumerate(below)
    )
    unpacked = {
        slot: f"CASE WHEN least.f{place} THEN least.v{place} END"
        for place, slot in enumerate(above)
    }
    return [Fragment(f"MIN(struct_pack({fields})) AS least")], unpacked, below


def _refs(part: UnionPart) -> list[FieldRef | int | None]:
    return [item for item in part.items if isinstance(item, FieldRef)]


def _given(
    given: Mapping[int, FieldRef | int | None], slot: int, part: int, number: int
) -> str:
    if slot == part:
        return f"CAST({number} AS BIGINT)"
    below = _slot_of(given[slot])
    return "CAST(NULL AS BIGINT)" if below is None else slot_name(below)


def _slot_of(given: FieldRef | int | None) -> int | None:
    return given.slot if isinstance(given, FieldRef) else given
