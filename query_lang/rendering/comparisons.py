"""Numbers compared exactly on the integer grid on which they are stored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from query_lang.plans.intervals import MAX_INTEGER, MIN_INTEGER
from query_lang.syntax.nodes import ComparisonOperator


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """``x operator value`` over stored integers; ``value`` fits 64 bits."""

    operator: ComparisonOperator
    value: int


def compare_on_grid(
    operator: ComparisonOperator, value: int | Decimal, scale: int
) -> StoredComparison | bool:
    """Return the comparison of stored integers that means the same.

    A bool is the answer for every row that is not NULL: no stored integer can tell.

    >>> compare_on_grid("<", Decimal("2.55"), 1)
    StoredComparison(operator='<=', value=25)
    >>> compare_on_grid("=", Decimal("2.55"), 1)
    False
    """
    exact = Fraction(value) * 10**scale
    if operator in {"=", "<>"}:
        on_grid = exact.denominator == 1 and MIN_INTEGER <= exact <= MAX_INTEGER
        return StoredComparison(operator, int(exact)) if on_grid else operator == "<>"
    return _ordered(operator, _THRESHOLDS[operator](exact))


def _ordered(operator: ComparisonOperator, threshold: int) -> StoredComparison | bool:
    """Compare with ``<=`` or ``>=``, or tell where the threshold is beyond 64 bits."""
    upper = operator in {"<", "<="}
    if threshold > MAX_INTEGER:
        return upper
    if threshold < MIN_INTEGER:
        return not upper
    return StoredComparison("<=" if upper else ">=", threshold)


def _below(exact: Fraction) -> int:
    return ceil(exact) - 1


def _above(exact: Fraction) -> int:
    return floor(exact) + 1


_THRESHOLDS: Mapping[ComparisonOperator, Callable[[Fraction], int]] = {
    "<": _below,
    "<=": floor,
    ">": _above,
    ">=": ceil,
}
