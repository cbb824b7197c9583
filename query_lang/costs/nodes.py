"""What the nodes of a plan cost: a walk over them as the rendering walks.

Each node is counted as often as it is rendered, with the slots that are read above it.
The rows of one unit come from the rules of ``stability``; those of the whole from the
declared sizes, never more than the tables' own rows imply.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from privacy.schema import Table
from query_lang.costs.amounts import Amount, Meter, Relation, paged
from query_lang.costs.constants import (
    AGGREGATE_STEPS,
    ARITHMETIC_BYTES,
    BYTES_A_STEP,
    DISTINCT_BYTES,
    DISTINCT_ROW_STEPS,
    EACH_STEPS,
    FRAME_STEPS,
    FRAME_TEXT_SHARE,
    GROUP_BYTES,
    GROUP_ROW_STEPS,
    GROUP_VALUE_STEPS,
    GROUPS_BYTES,
    LEAST_STEPS,
    LONG_TEXT_BYTES,
    NEW_GROUP_STEPS,
    NUMBER_BYTES,
    ONE_SIDED_FRAME_STEPS,
    READ_ROW_STEPS,
    READ_VALUE_STEPS,
    STARTED_AGGREGATE,
    STARTED_ARITHMETIC,
    STARTED_DISTINCT,
    STARTED_FRAME,
    STARTED_GROUPS,
    STARTED_ITEM,
    STARTED_KEY,
    STATE_BYTES,
    TEXT_BYTES,
    TEXT_STATE_BYTE_STEPS,
    TEXT_STATE_COPIES,
    TEXT_STATE_STEPS,
    WINDOW_ITEM_STEPS,
)
from query_lang.costs.expressions import ExpressionCost, column_bytes, is_text
from query_lang.costs.hashes import Sized, hashed, looked_up, walked
from query_lang.costs.joins import narrowed, public_join, unit_join
from query_lang.costs.orders import OrderKey, choose, order_key, sort
from query_lang.costs.subqueries import filtered, subqueries
from query_lang.plans.expressions import (
    Expression,
    FieldRef,
    slots_read,
)
from query_lang.plans.nodes import (
    BoundContributions,
    Compute,
    Filter,
    Node,
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
from query_lang.rendering.keyed_hashes import is_keyed, longest_run
from query_lang.rendering.pipelines import comes_in_parts
from query_lang.rendering.placed_filters import placed
from query_lang.rendering.stored_forms import made_for_each

Slots = frozenset[int]


@dataclass(frozen=True, slots=True)
class NodeCosts:
    """Counts the steps and bytes of one statement's nodes."""

    meter: Meter

    def relation(self, node: Node | PublicNode, wanted: Slots) -> Relation:  # noqa: C901, PLR0911, PLR0912 - an arm a form
        """Return a node's rows with the wanted slots, and count what they take."""
        match node:
            case Scan():
                return self._scan(node, wanted)
            case PublicScan(table):
                rows = Amount(0, table.max_rows)
                return self._read(table, node.first_slot, rows, wanted)
            case Filter():
                return self._placed(placed(node), wanted)
            case PublicFilter():
                return self._filter(node, wanted)
            case Compute(child, items):
                return self._compute(child, items, wanted)
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

    # -- tables ----------------------------------------------------------------

    def gathered(self, node: Node, wanted: Slots) -> Relation:
        """Return a relation that is put in groups, and count its being gathered."""
        below = self.relation(node, wanted)
        if comes_in_parts(node):
            steps = READ_ROW_STEPS + READ_VALUE_STEPS * len(wanted)
            steps += below.row_bytes // BYTES_A_STEP
            self.meter.spend("UNION ALL", below.rows, steps)
            self.meter.hold("UNION ALL", below.rows, paged(below.row_bytes))
        return below

    def _scan(self, node: Scan, wanted: Slots) -> Relation:
        meter, table = self.meter, node.table
        declared = node.declared_rows_per_unit
        meter.scanned.append(table.name)
        stored = Amount(declared, min(table.max_rows, meter.units * declared))
        found = self._read(table, node.first_slot, stored, wanted)
        most = meter.table_rows.get(table.name, node.rows_per_unit)
        kept = stored.at_most(Amount(most, meter.units * most))
        return Relation(kept, found.widths, is_stored=True)

    def _read(
        self, table: Table, first_slot: int, rows: Amount, wanted: Slots
    ) -> Relation:
        own = {
            first_slot + place: column_bytes(column)
            for place, column in enumerate(table.columns)
        }
        widths = {slot: own.get(slot, NUMBER_BYTES) for slot in wanted}
        steps = READ_ROW_STEPS + READ_VALUE_STEPS * (len(widths) + 1)
        steps += sum(widths.values()) // BYTES_A_STEP // NUMBER_BYTES
        longer = sum(width - 2 * NUMBER_BYTES for width in widths.values())
        steps += max(0, longer) // BYTES_A_STEP
        steps += sum(max(0, each - LONG_TEXT_BYTES) for each in widths.values())
        steps += EACH_STEPS * len(_made_for_each(table, first_slot) & wanted)
        self.meter.spend(f"reading {table.name}", rows, steps)
        texts = sum(width for width in widths.values() if width > TEXT_BYTES)
        self.meter.unpack(f"reading {table.name}", rows, texts)
        return Relation(rows, widths)

    # -- rows ------------------------------------------------------------------

    def _placed(self, node: Node, wanted: Slots) -> Relation:
        if isinstance(node, Filter):
            return self._filter(node, wanted)
        return self.relation(node, wanted)

    def _filter(self, node: Filter | PublicFilter, wanted: Slots) -> Relation:
        own = slots_of(node.child)
        below = self.relation(node.child, (wanted | slots_read(node.condition)) & own)
        filtered(self, node.condition, below)
        rows = below.rows
        if isinstance(node, Filter) and node.first is not None:
            first = node.first
            rows = rows.at_most(Amount(first, self.meter.units * first))
        return narrowed(replace(below, rows=rows), wanted)

    def _compute(
        self, child: Node, items: Iterable[tuple[int, Expression]], wanted: Slots
    ) -> Relation:
        made = {slot: value for slot, value in items if slot in wanted}
        own = slots_of(child)
        below = self.relation(child, ((wanted & own) | _read(made.values())) & own)
        cost = self.evaluate("computed columns", made.values(), below)
        widths = {slot: cost.width(value) for slot, value in made.items()}
        kept = {slot: below.widths[slot] for slot in wanted & own}
        return replace(below, widths=kept | widths)

    def evaluate(
        self,
        construct: str,
        expressions: Iterable[Expression],
        rows: Relation,
        *,
        names: bool = True,
    ) -> ExpressionCost:
        """Count expressions over rows, subqueries and all; return what was summed."""
        cost = ExpressionCost(rows.widths, self.meter.own, names)
        for expression in expressions:
            cost.add(expression)
        self.meter.spend(construct, rows.rows, cost.steps)
        kept = Amount(0, cost.arithmetic)  # however many rows there are
        self.meter.hold(construct, kept, ARITHMETIC_BYTES)
        self.meter.start(construct, STARTED_ARITHMETIC * cost.arithmetic)
        for reading, times, width in cost.patterns:
            self.meter.read_on(construct, rows.rows.times(width), reading, times)
        subqueries(self, cost.subqueries, rows)
        return cost

    # -- windows ---------------------------------------------------------------

    def _windowed(self, node: Windowed, wanted: Slots) -> Relation:
        child = node.child
        own = slots_of(child)
        items = [item for item in node.items if item.slot in wanted]
        ties = tie_break(child)
        parts = [part for item in items for part in _window_parts(item)]
        needed = (wanted & own) | _read(parts) | {child.owner, *ties}
        below = self.relation(child, needed & own)
        self.evaluate("windows", parts, below)
        orders = {(item.partition, item.order, _is_sorted(item)) for item in items}
        keys = [
            self._key(
                [*partition, *(term.value for term in order)],
                below,
                splits=bool(partition),
            )
            for partition, order, _ in orders
        ]
        widths = {item.slot: self._made_width(item, below) for item in items}
        sort(self.meter, "windows", below, keys, widths.values())
        for item in items:
            self._window_item(item, below)
        kept = {slot: below.widths[slot] for slot in wanted & own}
        return Relation(below.rows, kept | widths)

    def _key(
        self, terms: Iterable[Expression], below: Relation, *, splits: bool = False
    ) -> OrderKey:
        return order_key(terms, below, self.meter.own, splits=splits)

    def _window_item(self, item: WindowItem, below: Relation) -> None:
        """Count one window function, and the texts that it gives."""
        meter, rows = self.meter, below.rows
        meter.spend("windows", rows, _frame_steps(item, rows.unit))
        meter.start("windows", STARTED_FRAME if _has_frame(item) else STARTED_ITEM)
        if not _gives_text(item):
            return
        width, copies = self._made_width(item, below), 1
        if _is_framed(item):
            copies += 1 + _frame_length(item, rows.unit).bit_length()
            meter.hold("windows", rows, width // FRAME_TEXT_SHARE)
        meter.spend("windows", rows, copies * width)
        meter.unpack("windows", rows, width)

    def _made_width(self, item: WindowItem | RollupItem, below: Relation) -> int:
        if item.value is None or item.kind in {"count", "count_distinct"}:
            return NUMBER_BYTES
        return ExpressionCost(below.widths, self.meter.own).width(item.value)

    # -- roll-ups --------------------------------------------------------------

    def _rollup(self, node: Rollup, wanted: Slots) -> Relation:
        child = node.child
        own = slots_of(child)
        items = [item for item in node.items if item.slot in wanted]
        identity = child.identity.slots()
        is_least_read = bool(wanted & set(node.least.slots()))
        parts = [value for _, value in node.keys]
        parts += [part for item in items for part in _rollup_parts(item)]
        needed = _read(parts) | {node.owner}
        needed |= set(identity) if is_least_read else set()
        if any(item.kind in {"first", "last"} for item in items):
            needed |= set(tie_break(child))
        below = self.gathered(child, needed & own)
        cost = self.evaluate("GROUP BY", parts, below)
        keys = {slot: cost.width(value) for slot, value in node.keys}
        most = node.groups if node.keys else 1
        rows = below.rows.at_most(Amount(most, self.meter.units * most))
        made = {item.slot: self._made_width(item, below) for item in items}
        key_bytes = NUMBER_BYTES + sum(keys.values())
        sized = [(value.facts, keys[slot]) for slot, value in node.keys]
        most = min(below.rows.unit, child.rows_per_unit)
        hash_bytes = looked_up(self.meter, "GROUP BY", below.rows, most, sized)
        key_bytes += hash_bytes
        self.grouped(below.rows, rows, 1 + len(keys) + (hash_bytes > 0), key_bytes)
        for item in items:
            if item.kind == "count_distinct" and item.value is not None:
                self._distinct(node, item.value, below, key_bytes)
            self._aggregated(item, below, rows)
        if is_least_read and len(identity) > 1:
            self.meter.spend("GROUP BY", below.rows, LEAST_STEPS * len(identity))
        widths = dict.fromkeys((node.owner, *node.least.slots()), NUMBER_BYTES)
        return narrowed(Relation(rows, widths | keys | made), wanted)

    def grouped(self, rows: Amount, groups: Amount, keys: int, key_bytes: int) -> None:
        """Count rows that are put into groups."""
        steps = GROUP_ROW_STEPS + GROUP_VALUE_STEPS * keys + key_bytes // BYTES_A_STEP
        self.meter.spend("GROUP BY", rows, steps)
        self.meter.spend("GROUP BY", groups, NEW_GROUP_STEPS + key_bytes)
        self.meter.hold("GROUP BY", groups, GROUP_BYTES + paged(key_bytes))
        started = STARTED_GROUPS + STARTED_KEY * keys
        self.meter.start("GROUP BY", started, GROUPS_BYTES)

    def _distinct(
        self, node: Rollup, value: Expression, below: Relation, key_bytes: int
    ) -> None:
        """Count the distinct values of each group, looked up by all keys and a value.

        The keyed hash of the keys, where they have one, is counted by their table.
        """
        width = ExpressionCost(below.widths, self.meter.own).width(value)
        known = [key.facts for _, key in node.keys]
        most = min(below.rows.unit, node.child.rows_per_unit)
        size = key_bytes + width
        if is_keyed(most, [*known, value.facts]):
            size += self.paired_hash(below.rows, (value.facts, width))
        else:
            run = longest_run(most, [*known, value.facts])
            walked(self.meter, "COUNT(DISTINCT)", below.rows, run)
        self.distinct(below.rows, below.rows, size)

    def _aggregated(self, item: RollupItem, below: Relation, groups: Amount) -> None:
        meter, width = self.meter, self._made_width(item, below)
        if item.kind in {"first", "last"}:
            terms = [order.value for order in item.order]
            value = self._key([] if item.value is None else [item.value], below)
            choose(meter, below, groups, value, self._key(terms, below))
        if item.kind in {"min", "max"} and width > NUMBER_BYTES:
            steps = TEXT_STATE_STEPS + width * TEXT_STATE_BYTE_STEPS
            meter.spend("GROUP BY", below.rows, steps)
            meter.hold("GROUP BY", groups, (TEXT_STATE_COPIES - 1) * width)
            meter.unpack("GROUP BY", below.rows, width)
        meter.start("GROUP BY", STARTED_AGGREGATE)
        meter.spend("GROUP BY", below.rows, AGGREGATE_STEPS)
        meter.hold("GROUP BY", groups, STATE_BYTES + width)

    def paired_hash(self, rows: Amount, value: Sized) -> int:
        """Count distinct values beside their keyed hashes; return a hash's bytes."""
        self.meter.spend("COUNT(DISTINCT)", rows, GROUP_VALUE_STEPS)
        return hashed(self.meter, "COUNT(DISTINCT)", rows, [value])

    def distinct(self, rows: Amount, values: Amount, size: int) -> None:
        """Count rows of which the distinct values are kept."""
        steps = DISTINCT_ROW_STEPS + size // BYTES_A_STEP
        self.meter.spend("COUNT(DISTINCT)", rows, steps)
        self.meter.hold("COUNT(DISTINCT)", values, GROUP_BYTES + paged(size))
        self.meter.start("COUNT(DISTINCT)", STARTED_DISTINCT, DISTINCT_BYTES)

    # -- UNION ALL and bounds --------------------------------------------------

    def _union(self, node: Union, wanted: Slots) -> Relation:
        rows, widths = Amount(0, 0), dict.fromkeys(wanted, NUMBER_BYTES)
        for part in node.parts:
            found, given = self._part(node, part, wanted)
            rows += found.rows
            for above, below in given.items():
                widths[above] = max(widths[above], found.widths[below])
        return Relation(rows, widths)

    def _part(
        self, node: Union, part: UnionPart, wanted: Slots
    ) -> tuple[Relation, Mapping[int, int]]:
        """Return one part, and which of its slots gives which slot above."""
        identity, own = part.node.identity, node.own
        refs = [item.slot for item in part.items if isinstance(item, FieldRef)]
        pairs = [
            (node.owner, part.node.owner),
            *zip(node.columns, refs, strict=True),
            *zip(own.hashes, identity.hashes, strict=False),
            *zip(own.parts, identity.parts, strict=False),
            *zip(own.public_rows, identity.public_rows, strict=False),
        ]
        given = {above: below for above, below in pairs if above in wanted}
        found = self.relation(part.node, frozenset(given.values()))
        steps = READ_ROW_STEPS + READ_VALUE_STEPS * len(wanted)
        self.meter.spend("UNION ALL", found.rows, steps)
        return found, given

    def _bounded(self, node: BoundContributions, wanted: Slots) -> Relation:
        child = node.child
        needed = wanted | {node.owner, *tie_break(child), *node.keys}
        below = self.relation(child, needed & slots_of(child))
        windows = 1 + 2 * (node.max_groups is not None)
        windows += node.max_rows is not None and node.max_groups is not None
        keys = [below.widths[slot] for slot in node.keys]
        texts = tuple(each for each in keys if each > TEXT_BYTES)
        key = OrderKey(tuple(keys), texts, splits=bool(keys))
        sort(self.meter, "bounds", below, [key] * windows, [NUMBER_BYTES] * windows)
        rows = below.rows
        if node.max_rows is not None:
            most = node.max_rows
            rows = rows.at_most(Amount(most, self.meter.units * most))
        return narrowed(Relation(rows, below.widths), wanted)


def _made_for_each(table: Table, first_slot: int) -> Slots:
    """Return the slots of private columns that a scan makes anew for each row."""
    columns = enumerate(table.columns, first_slot)
    return frozenset(s for s, column in columns if made_for_each(table, column))


def _read(expressions: Iterable[Expression]) -> Slots:
    return frozenset(slot for each in expressions for slot in slots_read(each))


def _window_parts(item: WindowItem) -> list[Expression]:
    parts = [] if item.value is None else [item.value]
    return [*parts, *item.partition, *(order.value for order in item.order)]


def _rollup_parts(item: RollupItem) -> list[Expression]:
    parts = [] if item.value is None else [item.value]
    return [*parts, *(order.value for order in item.order)]


def _is_sorted(item: WindowItem) -> bool:
    whole = item.start.offset is None and item.end.offset is None
    ordered = {"row_number", "lag", "lead", "first", "last"}
    return item.kind in ordered or not whole


def _gives_text(item: WindowItem) -> bool:
    return item.kind != "count" and item.value is not None and is_text(item.value)


def _has_frame(item: WindowItem) -> bool:
    """Whether a part of the partition is asked about."""
    whole = item.start.offset is None and item.end.offset is None
    return not whole and item.kind not in {"row_number", "lag", "lead"}


def _is_framed(item: WindowItem) -> bool:
    """Whether the least or greatest of a part of the partition is asked for."""
    return item.kind in {"min", "max"} and _has_frame(item)


def _frame_length(item: WindowItem, rows: int) -> int:
    """Return the most rows of a frame in a partition of so many."""
    start, end = item.start.offset, item.end.offset
    if start is None or end is None:
        return rows
    return max(1, min(rows, end - start + 1))


def _frame_steps(item: WindowItem, rows: int) -> int:
    """Return what one window function takes a row: a frame is a tree of halves."""
    start, end = item.start.offset, item.end.offset
    if not _has_frame(item):
        return WINDOW_ITEM_STEPS
    if start is None or end is None:
        return ONE_SIDED_FRAME_STEPS
    length = _frame_length(item, rows)
    return ONE_SIDED_FRAME_STEPS + FRAME_STEPS * length.bit_length()
