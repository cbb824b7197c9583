import operator as op
from decimal import Decimal
from fractions import Fraction

import pytest

from query_lang.rendering.comparisons import StoredComparison, compare_on_grid

COMPARE = {
    "=": op.eq,
    "<>": op.ne,
    "<": op.lt,
    "<=": op.le,
    ">": op.gt,
    ">=": op.ge,
}
LEAST, MOST = -(2**63), 2**63 - 1
EDGES = [LEAST, LEAST + 1, -100, -1, 0, 1, 99, 100, 101, 150, MOST - 1, MOST]
VALUES = [0, 1, -1, LEAST, MOST, Decimal("1.005"), Decimal("-0.015"), Decimal("1.50")]
VALUES += [Decimal("92233720368547758.07"), Decimal("92233720368547758.08")]
VALUES += [Decimal("-92233720368547758.08"), Decimal("-92233720368547758.085")]


@pytest.mark.parametrize("scale", [0, 1, 2, 18])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("operator", list(COMPARE))
def test_stored_integers_answer_as_exact_fractions_do(operator, value, scale):
    found = compare_on_grid(operator, value, scale)
    for stored in EDGES:
        exact = COMPARE[operator](Fraction(stored, 10**scale), Fraction(value))
        if isinstance(found, StoredComparison):
            assert LEAST <= found.value <= MOST
            assert COMPARE[found.operator](stored, found.value) == exact
        else:
            assert found == exact
