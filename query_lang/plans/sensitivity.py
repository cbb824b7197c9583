"""How far one unit can move each measured vector: one rule a function, all exact.

Neighbouring relation throughout: add or remove all rows of one unit. Rules: the plan's
``rows_per_unit`` (k) and the most groups that one unit can touch (m), PRIVACY 3.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import prod

from privacy.events import VectorSensitivity
from privacy.schema import ColumnType
from query_lang.plans.domains import cell_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Function,
    slots_read,
)
from query_lang.plans.nodes import (
    Aggregate,
    BoundContributions,
    Compute,
    CountDistinctMeasure,
    CountUnitsMeasure,
    Filter,
    Key,
    MeasureKind,
    Node,
    PublicJoin,
    Rollup,
    Scan,
    SumMeasure,
    UnitJoin,
    Windowed,
    slots_of,
)

_IN_STEPS = frozenset({ColumnType.DECIMAL, ColumnType.TIMESTAMP})


def groups_within(node: Node, keys: Iterable[Expression]) -> int:
    """Return the most groups that expressions part the rows of one unit into.

    Neighbouring relation: add or remove all rows of one unit. Proof:
    docs/proofs/combinations.md.
    """
    read: frozenset[int] = frozenset()
    unlisted: frozenset[int] = frozenset()
    listed = 1
    for key in keys:
        cells = None if key.facts.type in _IN_STEPS else cell_count(key.facts)
        read |= slots_read(key)
        unlisted |= slots_read(key) if cells is None else frozenset()
        listed *= 1 if cells is None else cells
    by_lists = listed * values_per_unit(node, unlisted)
    return max(1, min(by_lists, values_per_unit(node, read)))


def values_per_unit(node: Node, slots: frozenset[int]) -> int:
    """Return the most combinations of values that some slots have in one unit's rows.

    NULL counts as a value. Neighbouring relation: add or remove all rows of one unit.
    Proof: docs/proofs/combinations.md.
    """
    slots -= {node.owner}
    if not slots:
        return 1
    return min(node.rows_per_unit, _combinations(node, slots))


def _combinations(node: Node, slots: frozenset[int]) -> int:  # noqa: C901, PLR0911, PLR0912 - an arm a form
    match node:
        case Filter(child) | BoundContributions(child):
            return values_per_unit(child, slots)
        case Compute(child, items):
            return values_per_unit(child, _behind(slots, _each(items)))
        case Windowed(child, items):
            of_partitions = {i.slot: i.partition for i in items if i.is_of_partition}
            read = _behind(slots, of_partitions)
            if read <= slots_of(child):
                return values_per_unit(child, read)
        case Rollup(child, keys) if slots <= dict(keys).keys():
            return values_per_unit(child, _behind(slots, _each(keys)))
        case PublicJoin(left) if slots <= slots_of(left):
            return values_per_unit(left, slots)
        case UnitJoin(left, right, outer=outer):
            own = slots & slots_of(right)
            beside = values_per_unit(right, own) + outer if own else 1
            return values_per_unit(left, slots - own) * beside
        case Scan(table, first_slot=first):
            names = dict(enumerate(table.columns, first))
            if all(s in names and names[s].constant_in_unit for s in slots):
                return 1
        case _:
            pass
    return node.rows_per_unit


_Made = Mapping[int, tuple[Expression, ...]]


def _each(items: Iterable[tuple[int, Expression]]) -> _Made:
    return {slot: (expression,) for slot, expression in items}


def _behind(slots: frozenset[int], made: _Made) -> frozenset[int]:
    """Return the slots whose values those of others follow from."""
    read = [slots_read(of) for slot in slots & made.keys() for of in made[slot]]
    return (slots - made.keys()).union(*read)


def groups_per_unit(plan: Aggregate) -> int:
    """Return m, the most cells of the answer that rows of one unit can lie in.

    The least of its rows, the combinations that the keys can have in them, the bound
    on its groups, and the number of cells over the keys that may vary within a unit,
    without those that WHERE leaves empty; 1 when no key does. Neighbouring relation:
    add or remove all rows of one unit. Proof: docs/proofs/count_distinct.md.
    """
    bounds = [groups_over(plan, plan.keys)]
    if isinstance(plan.child, BoundContributions) and plan.child.max_groups:
        bounds.append(plan.child.max_groups)
    return min(bounds)


def groups_over(plan: Aggregate, keys: Iterable[Key]) -> int:
    """Return in how many combinations of some keys' values rows of one unit can lie.

    Neighbouring relation: add or remove all rows of one unit. Proof:
    docs/proofs/count_distinct.md.
    """
    varying = [key for key in keys if not key.facts.constant]
    slots = frozenset(key.slot for key in varying)
    return min(reached_cells(varying), values_per_unit(plan.child, slots))


def reached_cells(keys: Iterable[Key]) -> int:
    """Return in how many combinations of the keys' values WHERE can leave rows."""
    return prod(len(key.reached) for key in keys)


def varying_keys(plan: Aggregate) -> list[Key]:
    """Return the keys that are not shown to be constant within the unit.

    Proof: docs/proofs/constancy.md.
    """
    return [key for key in plan.keys if not key.facts.constant]


def count_rows_sensitivity(rows_per_unit: int) -> VectorSensitivity:
    """Return the sensitivity of COUNT(*) and COUNT(x), grouped or not, in rows.

    One unit has at most ``rows_per_unit`` rows; each adds at most 1 to one cell, and
    all may fall into one cell. Neighbouring relation: add or remove all rows of one
    unit. Proof: docs/proofs/count.md.

    Raises:
        ValueError: The bound is below 1.

    >>> count_rows_sensitivity(40).l2_squared
    Fraction(1600, 1)
    """
    k = Fraction(_positive(rows_per_unit))
    return VectorSensitivity(l1=k, l2_squared=k * k, linf=k)


def count_units_sensitivity(groups: int) -> VectorSensitivity:
    """Return the sensitivity of COUNT(DISTINCT unit key), in units.

    One unit adds at most 1 to each of at most ``groups`` cells. Neighbouring relation:
    add or remove all rows of one unit. Proof: docs/proofs/count_distinct.md.

    Raises:
        ValueError: The number of groups is below 1.

    >>> count_units_sensitivity(3)
    VectorSensitivity(l1=Fraction(3, 1), l2_squared=Fraction(3, 1), linf=Fraction(1, 1))
    """
    m = Fraction(_positive(groups))
    return VectorSensitivity(l1=m, l2_squared=m, linf=Fraction(1))


def count_distinct_sensitivity(
    pairs: int, groups: int, values: int
) -> VectorSensitivity:
    """Return the sensitivity of COUNT(DISTINCT x), in values.

    The unit's rows have at most ``pairs`` of a cell and a value, and each of its cells
    has at most ``values`` of them: those of a public domain, or those that one unit's
    rows can have. Neighbouring relation: add or remove all rows of one unit. Proof:
    docs/proofs/count_distinct_values.md.

    Raises:
        ValueError: A bound is below 1.

    >>> count_distinct_sensitivity(40, 2, 3).l2_squared
    Fraction(18, 1)
    """
    size = _positive(values)
    l1 = min(_positive(pairs), _positive(groups) * size)
    linf = min(l1, size)
    return VectorSensitivity(Fraction(l1), Fraction(l1 * linf), Fraction(linf))


def sum_sensitivity(rows_per_unit: int, lower: int, upper: int) -> VectorSensitivity:
    """Return the sensitivity of SUM over values in [lower, upper], in grid steps.

    Each row of the unit adds at most the greater of -lower and upper to one cell; all
    may fall into one cell. Neighbouring relation: add or remove all rows of one unit,
    so that the width of the interval says nothing. Proof: docs/proofs/sum.md.

    Raises:
        ValueError: A bound is below 1: no noise would be asked for.

    >>> sum_sensitivity(6, -5, 10).l1
    Fraction(60, 1)
    """
    most = _positive(max(abs(lower), abs(upper)))
    k = Fraction(_positive(rows_per_unit) * most)
    return VectorSensitivity(l1=k, l2_squared=k * k, linf=k)


def measure_sensitivity(plan: Aggregate, measure: MeasureKind) -> VectorSensitivity:
    """Return the sensitivity of one measured vector of a plan.

    A histogram is a COUNT(*) with one more key, so that it has COUNT(*)'s
    (docs/proofs/quantile.md); an average is a sum and a count (docs/proofs/average.md).
    """
    rows = plan.child.rows_per_unit
    match measure:
        case CountUnitsMeasure():
            return count_units_sensitivity(groups_per_unit(plan))
        case CountDistinctMeasure(slot, values):
            counted = _counted(plan.child, slot)
            most = values_per_unit(plan.child, counted)
            size = most if values is None else min(values, most)
            told_apart = counted.union(key.slot for key in plan.keys)
            pairs = values_per_unit(plan.child, told_apart)
            return count_distinct_sensitivity(pairs, groups_per_unit(plan), size)
        case SumMeasure(_, lower, upper):
            return sum_sensitivity(rows, lower, upper)
        case _:
            return count_rows_sensitivity(rows)


def _counted(node: Node, slot: int) -> frozenset[int]:
    """Return slots whose values a slot's follow from, but for NULL.

    Of ``CASE WHEN c THEN x END`` those of x: whatever c is, there are no other values.
    """
    while isinstance(node, BoundContributions):
        node = node.child
    made = dict(node.items) if isinstance(node, Compute) else {}
    return slots_read(_kept(made[slot])) if slot in made else frozenset({slot})


def _kept(value: Expression) -> Expression:
    """Return x of CASE whose results are all x or NULL, else the value."""
    if not isinstance(value, Call) or value.function is not Function.CASE:
        return value
    *pairs, rest = value.operands
    results = {each for each in (*pairs[1::2], rest) if not _is_null(each)}
    return _kept(results.pop()) if len(results) == 1 else value


def _is_null(value: Expression) -> bool:
    return isinstance(value, Constant) and value.value is None


def _positive(bound: int) -> int:
    if bound < 1:
        message = f"a sensitivity of 0 would ask for no noise: the bound is {bound}"
        raise ValueError(message)
    return bound
