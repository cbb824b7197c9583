from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from query_lang.showing.decimals import decimal_of, decimal_text, round_half_even


@given(st.decimals(-(10**12), 10**12, places=8))
@example(Decimal("0.00000050"))
@example(Decimal("0.00000150"))
@example(Decimal("-0.00000050"))
def test_rounding_and_writing_agree_with_decimal(value):
    ratio = Fraction(value)
    rounded = round_half_even(ratio.numerator, ratio.denominator, 6)
    expected = value.quantize(Decimal("0.000001"), ROUND_HALF_EVEN) + 0  # -0 is 0
    assert f"{rounded:f}" == f"{expected:f}"


@given(steps=st.integers(-(2**80), 2**80), digits=st.integers(0, 38))
def test_steps_keep_every_digit_whatever_the_precision_of_decimals(steps, digits):
    assert Fraction(decimal_of(steps, digits)) == Fraction(steps, 10**digits)
    whole, _, rest = decimal_text(steps, digits).partition(".")
    assert len(rest) == digits
    assert int(whole + rest) == steps
