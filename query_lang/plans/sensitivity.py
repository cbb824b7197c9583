"""How far one unit can move each measured vector: one rule a function, all exact.

Neighbouring relation throughout: add or remove all rows of one unit. Rules: the plan's
``rows_per_unit`` (k) and the most groups that one unit can touch (m), PRIVACY 3.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import prod

from privacy.events import VectorSensitivity
from query_lang.plans.nodes import (
    Aggregate,
    BoundContributions,
    CountDistinctMeasure,
    CountUnitsMeasure,
    Key,
    MeasureKind,
    SumMeasure,
)


def groups_per_unit(plan: Aggregate) -> int:
    """Return m, the most cells of the answer that rows of one unit can lie in.

    The least of its rows, the bound on its groups, and the number of cells over the
    keys that may vary within a unit, without those that WHERE leaves empty; 1 when no
    key does. Neighbouring relation: add or remove all rows of one unit. Proof:
    docs/proofs/count_distinct.md.
    """
    bounds = [plan.child.rows_per_unit, reached_cells(varying_keys(plan))]
    if isinstance(plan.child, BoundContributions) and plan.child.max_groups:
        bounds.append(plan.child.max_groups)
    return min(bounds)


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
    rows_per_unit: int, groups: int, values: int
) -> VectorSensitivity:
    """Return the sensitivity of COUNT(DISTINCT x) over a public domain, in values.

    Each of the unit's rows decides at most one (cell, value) pair, and each of its
    cells has at most ``values`` of them. Neighbouring relation: add or remove all rows
    of one unit. Proof: docs/proofs/count_distinct_values.md.

    Raises:
        ValueError: A bound is below 1.

    >>> count_distinct_sensitivity(40, 2, 3).l2_squared
    Fraction(18, 1)
    """
    size = _positive(values)
    l1 = min(_positive(rows_per_unit), _positive(groups) * size)
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
        case CountDistinctMeasure(values=values):
            return count_distinct_sensitivity(rows, groups_per_unit(plan), values)
        case SumMeasure(_, lower, upper):
            return sum_sensitivity(rows, lower, upper)
        case _:
            return count_rows_sensitivity(rows)


def _positive(bound: int) -> int:
    if bound < 1:
        message = f"a sensitivity of 0 would ask for no noise: the bound is {bound}"
        raise ValueError(message)
    return bound
