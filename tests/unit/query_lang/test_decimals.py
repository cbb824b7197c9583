from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_lang.decimals import decimal_text, round_half_even


@given(st.decimals(-(10**12), 10**12, places=8))
def test_rounding_and_writing_agree_with_decimal(value):
    rounded = round_half_even(Fraction(value), 6)
    expected = value.quantize(Decimal("0.000001"), ROUND_HALF_EVEN) + 0  # -0 is 0
    assert decimal_text(rounded, 6) == f"{expected:f}"


def test_writing_never_rounds():
    with pytest.raises(ValueError, match="more than 1 decimals"):
        decimal_text(Fraction(1, 100), 1)
