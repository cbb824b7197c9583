from fractions import Fraction
from itertools import chain, repeat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.scales.gaussian.half_widths import gaussian_half_width
from mechanisms.scales.gaussian.sums import gaussian_sum_half_width

MISS = Fraction(5, 100)


def law_of(draws):
    """Return the probabilities of a sum of draws with whole weights, around 0."""
    found = np.ones(1)
    for weight, scale in chain(*(repeat((w, s), n) for w, s, n in draws)):
        line = np.arange(-int(12 * scale) - 3, int(12 * scale) + 4)
        weights = np.exp(-((line / scale) ** 2) / 2)
        spread = np.zeros((len(line) - 1) * int(weight) + 1)
        spread[:: int(weight)] = weights / weights.sum()
        found = np.convolve(found, spread)
    return found


def misses(draws, width):
    law = law_of(draws)
    middle = len(law) // 2
    return 1 - law[max(0, middle - width) : middle + width + 1].sum()


def draws_of(weights):
    return st.lists(
        st.tuples(weights, st.floats(0.2, 12), st.integers(1, 3)),
        min_size=1,
        max_size=3,
    )


@settings(max_examples=60, deadline=None)
@given(
    draws=draws_of(st.integers(1, 5).map(Fraction)),
    miss=st.fractions(Fraction(1, 10**6), Fraction(1, 2)),
)
def test_a_sum_misses_its_half_width_no_more_often_than_stated(draws, miss):
    width = gaussian_sum_half_width(draws, miss)
    assert width.denominator == 1
    assert misses(draws, int(width)) <= float(miss) + 1e-12


@settings(max_examples=60, deadline=None)
@given(
    scales=st.lists(st.floats(2, 15), min_size=2, max_size=4),
    miss=st.fractions(Fraction(1, 10**4), Fraction(1, 2)),
)
def test_a_sum_of_like_weights_is_as_narrow_as_one_draw(scales, miss):
    draws = [(Fraction(1), scale, 1) for scale in scales]
    width = int(gaussian_sum_half_width(draws, miss))
    if width > 1:
        assert misses(draws, width - 2) > float(miss) * 0.99


def test_one_draw_has_its_own_half_width():
    width = 3 * gaussian_half_width(7.5, 1 - MISS)
    assert gaussian_sum_half_width([(Fraction(-3), 7.5, 1)], MISS) == width


def test_nothing_drawn_reaches_nowhere():
    assert gaussian_sum_half_width([], MISS) == 0
    assert gaussian_sum_half_width([(Fraction(0), 7.5, 1)], MISS) == 0


@pytest.mark.parametrize("scale", [2.0, 30.0, 2.0**40])
def test_many_draws_are_bounded_by_their_deviation(scale):
    width = gaussian_sum_half_width([(Fraction(1), scale, 1024)], MISS)
    assert float(width) == pytest.approx(1.96 * 32 * scale, abs=1, rel=1e-3)


def test_a_sum_is_rounded_down_to_what_it_can_be():
    draws = [(Fraction(2, 3), 20.0, 1), (Fraction(4, 3), 9.0, 2)]
    assert (gaussian_sum_half_width(draws, MISS) / Fraction(2, 3)).denominator == 1


def test_wide_noise_with_unlike_weights_is_bounded_hardly_wider_than_the_normal_law():
    draws = [(Fraction(1), 1e5, 100), (Fraction(-7, 3), 2e4, 50)]
    deviation = (100 * 1e10 + 50 * (7 / 3 * 2e4) ** 2) ** 0.5
    assert float(gaussian_sum_half_width(draws, MISS)) < 1.9603 * deviation
