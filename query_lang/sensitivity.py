"""How far one unit can move each measured vector: one rule a function, all exact.

Neighbouring relation throughout: add or remove all rows of one unit. Rules: the plan's
``rows_per_unit`` (k) and the most groups that one unit can touch (m).
"""

from fractions import Fraction
from math import prod

from privacy.events import VectorSensitivity
from query_lang.domains import cell_count
from query_lang.plan import (
    Aggregate,
    BoundContributions,
    CountRowsMeasure,
    MeasureKind,
)
from query_lang.predicates import ColumnRef


def groups_per_unit(plan: Aggregate) -> int:
    """Return m, the most cells of the answer that rows of one unit can lie in.

    The least of its rows, the bound on its groups, and the number of cells over the
    keys that may vary within a unit; 1 when no key does.
    """
    sizes = [cell_count(key.column) or 0 for key in varying_keys(plan)]
    bounds = [plan.child.rows_per_unit, prod(sizes)]
    if isinstance(plan.child, BoundContributions) and plan.child.max_groups:
        bounds.append(plan.child.max_groups)
    return min(bounds)


def varying_keys(plan: Aggregate) -> list[ColumnRef]:
    """Return the keys that are not declared constant within the unit."""
    return [key for key in plan.keys if not key.column.constant_in_unit]


def count_rows_sensitivity(rows_per_unit: int) -> VectorSensitivity:
    """Return the sensitivity of COUNT(*), grouped or not, in rows.

    One unit has at most ``rows_per_unit`` rows; each adds 1 to one cell, and all may
    fall into one cell. Neighbouring relation: add or remove all rows of one unit.
    Proof: docs/proofs/count.md.

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


def measure_sensitivity(plan: Aggregate, measure: MeasureKind) -> VectorSensitivity:
    """Return the sensitivity of one measured vector of a plan."""
    if isinstance(measure, CountRowsMeasure):
        return count_rows_sensitivity(plan.child.rows_per_unit)
    return count_units_sensitivity(groups_per_unit(plan))


def _positive(bound: int) -> int:
    if bound < 1:
        message = f"a sensitivity of 0 would ask for no noise: the bound is {bound}"
        raise ValueError(message)
    return bound
