"""How likely too many cells are moved too far: never less than it is."""

import math
from fractions import Fraction

import pytest

from mechanisms.scales.half_widths import half_width
from mechanisms.scales.misses import beyond, probability_of_more


def exactly(chances, allowed):
    """Return the chance of more misses than allowed, cell by cell."""
    of = [1.0]
    for chance in chances:
        with_miss, without = [0.0, *of], [*of, 0.0]
        of = [
            chance * a + (1 - chance) * b
            for a, b in zip(with_miss, without, strict=True)
        ]
    return sum(of[allowed + 1 :])


@pytest.mark.parametrize("scale", [0.3, 1.0, 10.0, 1e6])
def test_a_half_width_is_the_least_that_is_missed_seldom_enough(scale):
    width = half_width(scale, Fraction(95, 100))
    assert beyond(scale, width) <= 0.05 * (1 + 1e-8)
    assert width == 0 or beyond(scale, width - 1) > 0.05


@pytest.mark.parametrize("allowed", [3, 9, 10, 30, 59])
def test_equal_cells_miss_as_a_binomial_says(allowed):
    bound = probability_of_more(60, 0.05, allowed)
    truth = exactly([0.05] * 60, allowed)
    assert truth <= bound <= truth * 1.00001


def test_cells_that_differ_miss_no_more_often_than_equal_ones():
    chances = [0.001] * 50 + [0.2] * 10
    for allowed in (3, 5, 9):
        bound = probability_of_more(60, math.fsum(chances) / 60, allowed)
        assert exactly(chances, allowed) <= bound < 1


def test_more_misses_than_are_expected_are_never_sure_to_stay_away():
    assert probability_of_more(100, 0.5, 49) == 1.0
    assert (
        0.0487
        < exactly([0.0005] * 100, 0)
        < probability_of_more(100, 0.0005, 0)
        < 0.0501
    )
    assert probability_of_more(100, 0.5, 100) == 0.0
    assert probability_of_more(100, 0.0, 0) == 0.0
    assert 0 < probability_of_more(100_000, 0.05, 5_300) < 0.001
