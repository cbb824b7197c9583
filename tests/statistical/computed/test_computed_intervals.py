"""Intervals of computed columns hold as often as they say, whatever is true.

Fails by chance less than once in a million runs: of n intervals that hold with
probability 0.95, five standard deviations fewer than 0.95 n may hold.
"""

from math import sqrt

import pytest

from tests.effort import gate_first
from tests.statistical.computed.coverage import CASES, measure

pytestmark = pytest.mark.thorough

DRAWS = 2_000


@pytest.mark.parametrize("place", gate_first(len(CASES), range(len(CASES))))
def test_intervals_of_computed_columns_hold(place):
    found = measure(CASES[place], DRAWS, place)
    assert found.held >= 0.95 * found.asked - 5 * sqrt(0.05 * 0.95 * found.asked)


def test_half_of_the_noise_would_be_noticed():
    """The test can fail: noise of twice the scale that intervals know of."""
    case = next(case for case in CASES if case.name == "share")
    found = measure(case, DRAWS, 7, drawn=2.0)
    assert found.held < 0.95 * found.asked - 5 * sqrt(0.05 * 0.95 * found.asked)
