"""What subqueries cost: joins that keep or drop a row, as they are rendered."""

from collections.abc import Iterable

from query_lang.costs.amounts import Amount, Relation, paged
from query_lang.costs.constants import (
    BYTES_A_STEP,
    HALF_PAIR_STEPS,
    JOIN_ROW_STEPS,
    JOIN_VALUE_STEPS,
    LOOP_PAIR_STEPS,
    NUMBER_BYTES,
    NUMBERED_ROW_STEPS,
    ORDER_BYTES,
    ORDER_TEXT_BYTES,
    READ_VALUE_STEPS,
    ROW_BYTES,
    STARTED_JOIN,
    TEXT_BYTES,
)
from query_lang.costs.expressions import Subquery
from query_lang.costs.hashes import walked
from query_lang.costs.joins import (
    Costs,
    hold,
    joined,
    keyed,
    matched,
    matched_by_values,
    paired,
    walked_alone,
)
from query_lang.plans.expressions import (
    ExistsInQuery,
    Expression,
    FieldRef,
    UnitInQuery,
    ValueInQuery,
    conjuncts,
    is_equality,
    slots_read,
)
from query_lang.plans.nodes import PublicFilter, PublicScan, slots_of
from query_lang.rendering.keyed_hashes import (
    aimed_run,
    crowding_rows,
    longest_run,
)
from query_lang.rendering.subquery_forms import (
    ExistsParts,
    exists_parts,
    half_joins,
    looked_up_by_unit,
)

_IN, _EXISTS = "IN (SELECT ...)", "EXISTS"
_ITEM = -1  # no slot: the value that is looked up


def filtered(costs: Costs, condition: Expression, rows: Relation) -> None:
    """Count a condition on rows: expressions, then a join for each EXISTS."""
    joins, rest = half_joins(condition)
    costs.evaluate("WHERE", [] if rest is None else [rest], rows)
    for join in joins:
        _half_joined(costs, join.exists, rows)


def subqueries(
    costs: Costs, found: Iterable[tuple[Subquery, int]], rows: Relation
) -> None:
    """Count subqueries whose truth is a value of each of these rows."""
    marks: dict[ExistsInQuery, None] = {}
    for subquery, times in found:
        if isinstance(subquery, ExistsInQuery) and _is_mark(subquery):
            marks[subquery] = None
        else:
            for _ in range(times):
                _looked_up(costs, subquery, rows)
    if marks:
        _numbered(costs, rows)
    for exists in marks:
        _marked(costs, exists, rows)


def _is_mark(exists: ExistsInQuery) -> bool:
    return bool(exists.outer) and looked_up_by_unit(exists) is None


# -- looked up by a value --------------------------------------------------------------


def _looked_up(costs: Costs, subquery: Subquery, around: Relation) -> None:
    construct = _EXISTS if isinstance(subquery, ExistsInQuery) else _IN
    inner = _looked_among(costs, subquery, around)
    matched(costs, construct, inner)
    hold(costs, construct, inner)
    steps = JOIN_ROW_STEPS + JOIN_VALUE_STEPS * len(around.widths)
    costs.meter.spend(construct, around.rows, steps)
    costs.meter.start(construct, STARTED_JOIN)


def _looked_among(costs: Costs, subquery: Subquery, around: Relation) -> Relation:
    match subquery:
        case UnitInQuery(_, query):
            return costs.relation(query, frozenset((query.owner,)))
        case ValueInQuery(value, public, item):
            inner = costs.relation(public, slots_read(item) & slots_of(public))
            made = costs.evaluate(_IN, [item], inner)
            costs.evaluate(_IN, [value], around)
            walked(costs.meter, _IN, around.rows, aimed_run(public))
            if not isinstance(item, FieldRef):
                run = longest_run(crowding_rows(public, [item]), [item.facts])
                for rows in (around.rows, inner.rows):
                    walked(costs.meter, _IN, rows, run)
            return Relation(inner.rows, {_ITEM: made.width(item)})
        case ExistsInQuery():
            return _inner(costs, subquery, exists_parts(subquery))


# -- EXISTS ----------------------------------------------------------------------------


def _inner(costs: Costs, exists: ExistsInQuery, parts: ExistsParts) -> Relation:
    """Return the inner rows, with what ties and conditions read."""
    read = [part for part in (parts.pairs, parts.nested) if part is not None]
    needed = frozenset(slot for slot, _ in exists.ties).union(*map(slots_read, read))
    return costs.relation(parts.inner, needed & slots_of(parts.inner))


def _half_joined(costs: Costs, exists: ExistsInQuery, around: Relation) -> None:
    """Count the pairs that decide for each row whether one meets it."""
    parts = exists_parts(exists)
    inner = _inner(costs, exists, parts)
    _by_values(costs, parts, around, inner)
    held = keyed(costs, inner, parts.pairs)
    matched(costs, _EXISTS, keyed(costs, around, parts.pairs))
    matched(costs, _EXISTS, held)
    hold(costs, _EXISTS, held)
    if parts.pairs is None:
        return  # the first row that is looked up decides
    pairs = Relation(
        _pairs(costs, exists, around.rows, inner.rows),
        {**around.widths, **inner.widths},
    )
    met = _met(exists, inner.rows), pairs.rows
    walked_alone(costs, _EXISTS, (around, inner), met, parts.pairs)
    each = HALF_PAIR_STEPS if exists.ties else LOOP_PAIR_STEPS
    read = len(slots_read(parts.pairs))
    costs.meter.spend(_EXISTS, pairs.rows, each + READ_VALUE_STEPS * read)
    costs.evaluate(_EXISTS, [parts.pairs], pairs, names=False)


def _numbered(costs: Costs, rows: Relation) -> None:
    """Count rows that are numbered and kept, to be read twice.

    Over joins, EXISTS and UNION ALL the engine keeps them once more while it numbers
    them; over tables and groups it does not.
    """
    steps = NUMBERED_ROW_STEPS + 2 * READ_VALUE_STEPS * len(rows.widths)
    steps += 2 * rows.row_bytes // BYTES_A_STEP
    costs.meter.spend(_EXISTS, rows.rows, steps)
    size = ROW_BYTES + NUMBER_BYTES + paged(rows.row_bytes)
    costs.meter.hold(_EXISTS, rows.rows, 2 * size)
    pages = ORDER_BYTES + (ORDER_TEXT_BYTES if rows.has_texts else 0)
    costs.meter.start(_EXISTS, 0, pages)
    texts = sum(width for width in rows.widths.values() if width > TEXT_BYTES)
    costs.meter.unpack(_EXISTS, rows.rows, texts)


def _marked(costs: Costs, exists: ExistsInQuery, around: Relation) -> None:
    """Count an EXISTS whose truth is a value: rows that meet one, and their numbers."""
    parts = exists_parts(exists)
    met = around.rows
    if parts.nested is None:
        _half_joined(costs, exists, around)
    else:
        inner = _inner(costs, exists, parts)
        rows = _pairs(costs, exists, around.rows, inner.rows)
        _by_values(costs, parts, around, inner)
        pairs = joined(costs, _EXISTS, (around, inner), rows, parts.pairs)
        filtered(costs, parts.nested, pairs)
        met = pairs.rows  # a row's number comes with each row that it met
    numbers = Relation(met, {-1: NUMBER_BYTES})
    matched(costs, _EXISTS, Relation(around.rows, {-1: NUMBER_BYTES}))
    matched(costs, _EXISTS, numbers)
    hold(costs, _EXISTS, numbers)


def _by_values(
    costs: Costs, parts: ExistsParts, around: Relation, inner: Relation
) -> None:
    """Count what values that were chosen delay."""
    matched_by_values(costs, _EXISTS, (around, inner), parts.inner, parts.pairs)


def _pairs(costs: Costs, exists: ExistsInQuery, outer: Amount, inner: Amount) -> Amount:
    if exists.ties:
        return paired(outer, inner, costs.meter.units)
    return outer.times(_met(exists, inner))


def _met(exists: ExistsInQuery, inner: Amount) -> int:
    """Return how many inner rows one row around them meets at most."""
    if exists.ties:
        return inner.unit
    found = _public_matches(exists)
    return inner.whole if found is None else min(found, inner.whole)


def _public_matches(exists: ExistsInQuery) -> int | None:
    """Return the most rows of a public table that equalities leave for one outer row.

    None where no key and no declared fan-out is equated with outer values.
    """
    node = exists.query
    while isinstance(node, PublicFilter):
        node = node.child
    if not isinstance(node, PublicScan) or exists.condition is None:
        return None
    equated = _equated(exists.condition, node.slots)
    names = [column.name for column in node.table.columns]
    covers = [(node.table.key, 1), *node.table.fan_out]
    most = [
        rows
        for columns, rows in covers
        if columns
        and all(node.first_slot + names.index(name) in equated for name in columns)
    ]
    return min(most, default=None)


def _equated(condition: Expression, own: frozenset[int]) -> set[int]:
    """Return the inner slots that a conjunct equates with outer values alone."""
    found: set[int] = set()
    for part in conjuncts(condition):
        if not is_equality(part):
            continue
        one, two = part.operands
        for column, value in ((one, two), (two, one)):
            if isinstance(column, FieldRef) and not slots_read(value) & own:
                found.add(column.slot)
    return found
