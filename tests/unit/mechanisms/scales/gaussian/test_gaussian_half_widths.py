import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from mechanisms.scales.gaussian.half_widths import gaussian_beyond, gaussian_half_width
from mechanisms.scales.gaussian.normal_quantiles import normal_quantile_ceil, root_ceil

CONFIDENCE = Fraction(95, 100)


def misses(scale, width):
    """Return P(|noise| > width), summed term by term, to about twelve digits."""
    line = np.arange(1, int(40 * scale) + width + 2, dtype=float)
    weights = np.exp(-((line / scale) ** 2) / 2)
    return 2 * weights[width:].sum() / (1 + 2 * weights.sum())


@settings(max_examples=80)
@given(
    scale=st.floats(0.05, 15.9),
    confidence=st.fractions(Fraction(1, 1000), Fraction(999_999, 1_000_000)),
)
def test_below_sixteen_the_half_width_is_the_least_that_is_enough(scale, confidence):
    width = gaussian_half_width(scale, confidence)
    allowed = float(1 - confidence)
    assert misses(scale, width) <= allowed * (1 + 1e-9)
    if width > 0:
        assert misses(scale, width - 1) > allowed * (1 - 1e-9)


@settings(max_examples=80)
@given(
    scale=st.floats(16, 2_000),
    confidence=st.fractions(Fraction(1, 1000), Fraction(999_999, 1_000_000)),
)
def test_beyond_sixteen_the_half_width_is_enough_and_at_most_one_more(
    scale, confidence
):
    width = gaussian_half_width(scale, confidence)
    allowed = float(1 - confidence)
    assert misses(scale, width) <= allowed * (1 + 1e-9)
    if width > 1:
        assert misses(scale, width - 2) > allowed


def test_one_more_is_seldom():
    scales = [16 * 1.01**step for step in range(300)]
    widths = [gaussian_half_width(scale, CONFIDENCE) for scale in scales]
    more = sum(
        misses(scale, width - 1) <= 0.05
        for scale, width in zip(scales, widths, strict=True)
    )
    assert more <= 3


def test_known_gaussian_widths_of_ninety_five_percent():
    assert gaussian_half_width(10.0, CONFIDENCE) == 20
    assert gaussian_half_width(1.0, CONFIDENCE) == 2
    assert gaussian_half_width(0.01, CONFIDENCE) == 0
    assert gaussian_half_width(1_000.0, CONFIDENCE) == 1_960
    assert gaussian_half_width(2.0**40, CONFIDENCE) == math.ceil(
        2**40 * 1.959963984540054235 - 0.5
    )


@settings(max_examples=60)
@given(scale=st.floats(0.05, 100), more=st.floats(1, 1.2))
def test_wider_noise_never_has_a_narrower_half_width(scale, more):
    assert gaussian_half_width(scale, CONFIDENCE) <= gaussian_half_width(
        scale * more, CONFIDENCE
    )


def test_a_gaussian_confidence_may_be_closer_to_one_than_any_float():
    nearly_sure = 1 - Fraction(1, 10**300)
    for scale in (10.0, 100.0):
        expected = 37.0657878807721 * scale
        assert gaussian_half_width(scale, nearly_sure) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("scale", [1e-9, 2.0, 40.0])
def test_a_gaussian_confidence_may_be_close_to_zero(scale):
    assert gaussian_half_width(scale, Fraction(1, 10**90)) == 0


@pytest.mark.parametrize("confidence", [Fraction(0), Fraction(1), Fraction(2)])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_certainty_is_no_gaussian_confidence(scale, confidence):
    with pytest.raises(ValueError, match="strictly between"):
        gaussian_half_width(scale, confidence)


@given(
    miss=st.fractions(Fraction(1, 10**9), Fraction(999_999, 1_000_000)),
)
def test_a_normal_quantile_is_never_too_small_and_hardly_too_large(miss):
    quantile = normal_quantile_ceil(miss)
    assert float(quantile) == pytest.approx(norm.isf(float(miss) / 2), rel=1e-9)


def test_a_normal_quantile_has_thirty_digits():
    # 1.959963984540054235524594430520551527955550... (Abramowitz and Stegun's constant)
    stated = Fraction(1959963984540054235524594430520, 10**30)
    assert 0 < normal_quantile_ceil(Fraction(5, 100)) - stated < Fraction(3, 10**30)


@pytest.mark.parametrize("miss", [Fraction(0), Fraction(1)])
def test_no_quantile_misses_always_or_never(miss):
    with pytest.raises(ValueError, match="strictly between"):
        normal_quantile_ceil(miss)


@given(square=st.fractions(0, 10**20))
def test_a_root_is_never_too_small(square):
    root = root_ceil(square)
    assert root**2 >= square
    assert (root - Fraction(2, 10**60)) ** 2 <= square or root < Fraction(1, 10**50)


@settings(max_examples=60)
@given(scale=st.floats(0.05, 500), width=st.integers(0, 2_000))
def test_what_lies_beyond_a_width_is_never_stated_too_small(scale, width):
    width = min(width, int(7 * scale))
    stated, exact = gaussian_beyond(scale, width), misses(scale, width)
    assert stated >= exact * (1 - 1e-11)
    assert stated <= exact * (1 + 0.3 / scale) + 1e-290
