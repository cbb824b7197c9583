import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.scales.half_widths import half_width, scale_estimate


def misses(scale, width):
    """Return P(|noise| > width), to about twelve digits."""
    a = math.exp(-1 / scale)
    return 2 * math.exp(-(width + 1) / scale) / (1 + a)


@settings(max_examples=100)
@given(
    scale=st.floats(0.05, 1e6),
    confidence=st.fractions(Fraction(1, 1000), Fraction(999_999, 1_000_000)),
)
def test_the_half_width_is_the_least_that_is_confident_enough(scale, confidence):
    width = half_width(scale, confidence)
    allowed = float(1 - confidence)
    assert misses(scale, width) <= allowed * (1 + 1e-9)
    if width > 0:
        assert misses(scale, width - 1) > allowed * (1 - 1e-9)


def test_known_widths_of_ninety_five_percent():
    confidence = Fraction(95, 100)
    assert half_width(10.000000000000002, confidence) == 30
    assert half_width(1.0, confidence) == 3
    assert half_width(0.01, confidence) == 0


def test_the_widest_scale_is_answered_to_the_last_unit():
    # computed once with two hundred digits
    assert half_width(2.0**40, Fraction(95, 100)) == 3_293_842_468_476


def test_confidence_may_be_closer_to_one_than_any_float():
    nearly_sure = 1 - Fraction(1, 10**300)
    expected = 300 * math.log(10) * 10  # two tails share what is missed
    assert half_width(10.0, nearly_sure) == pytest.approx(expected, abs=2)


def test_confidence_may_be_closer_to_zero_than_any_digit_kept():
    assert half_width(1e-9, Fraction(1, 10**90)) == 0
    assert half_width(2.0**40, Fraction(1, 10**90)) == 0


def test_a_confidence_on_the_edge_is_told_apart_by_more_digits():
    # P(|noise| <= 4) at scale 2, cut after 90 digits: just reached, then just missed
    with localcontext(prec=120):
        a = Decimal("-0.5").exp()
        reached = Fraction(int((1 - 2 * a**5 / (1 + a)).scaleb(90)), 10**90)
    assert half_width(2.0, reached) == 4
    assert half_width(2.0, reached + Fraction(1, 10**90)) == 5


@pytest.mark.parametrize("confidence", [Fraction(0), Fraction(1), Fraction(2)])
def test_certainty_and_nonsense_are_no_confidence(confidence):
    with pytest.raises(ValueError, match="strictly between"):
        half_width(1.0, confidence)


@given(width=st.integers(0, 10**9))
def test_the_estimate_of_a_scale_comes_close(width):
    confidence = Fraction(95, 100)
    scale = scale_estimate(width, confidence)
    assert half_width(scale * (1 - 1e-9), confidence) <= width
    assert half_width(scale * (1 + 1e-9), confidence) >= width
