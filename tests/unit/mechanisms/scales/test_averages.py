"""How often noise moves an average too far: the bound against exact sums."""

import math
from fractions import Fraction

import pytest

from mechanisms.scales.averages import NearAverage, average_beyond
from mechanisms.scales.noises import GAUSSIAN, LAPLACE
from tests.support.noise.averages import (
    gaussian_above,
    laplace_above,
    miss_of_average,
)

ONE = Fraction(1)
ABOVE = {LAPLACE: laplace_above, GAUSSIAN: gaussian_above}


def bound(noise, near, of_sum, of_count):
    return average_beyond(
        near, ([(ONE, of_sum)], [(ONE, of_count)]), noise.sums, miss=0.05
    )


def exact(noise, near, of_sum, of_count, bounds):
    """Return the worst of all averages that cells of just so many values may have."""
    above = ABOVE[noise]
    lower, upper = bounds
    totals = [round(lower * near.rows + part * near.rows * (upper - lower) / 8)
              for part in range(9)]  # fmt: skip
    totals += [round((upper - near.within) * near.rows) - 1]
    return max(
        miss_of_average(
            above(of_sum),
            above(of_count),
            reach=math.ceil(60 * of_count) + 60,
            total=total,
            rows=near.rows,
            within=float(near.within),
            bounds=bounds,
        )
        for total in totals
    )


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("bounds", [(0, 120), (-60, 60), (-5, 300), (3, 4), (0, 1)])
@pytest.mark.parametrize("rows", [20, 400])
@pytest.mark.parametrize("scale", [0.3, 2.0, 25.0])
def test_no_average_is_moved_too_far_more_often_than_is_said(
    noise, bounds, rows, scale
):
    greatest = max(map(abs, bounds))
    for within in (Fraction(1, 3), Fraction(greatest, 8), Fraction(2 * greatest)):
        near = NearAverage(greatest, within, rows)
        told = bound(noise, near, greatest * scale, scale)
        assert exact(noise, near, greatest * scale, scale, bounds) <= told + 1e-12


@pytest.mark.parametrize(("noise", "scale"), [(LAPLACE, 40.0), (GAUSSIAN, 55.0)])
def test_what_is_said_is_little_more_than_what_happens(noise, scale):
    near = NearAverage(120, Fraction(2), 10_000)
    told = bound(noise, near, 120 * scale, scale)
    happens = exact(noise, near, 120 * scale, scale, (0, 120))
    assert 0.01 < happens <= told < 1.2 * happens


def test_least_noise_keeps_to_what_is_possible_and_none_to_less():
    near = NearAverage(120, Fraction(1, 2), 243)
    assert near.fewest_rows == 244
    assert not near.is_possible
    assert bound(LAPLACE, near, 0.001, 0.00001) > 0.05
    enough = NearAverage(120, Fraction(1, 2), 244)
    assert enough.is_possible
    assert bound(LAPLACE, enough, 0.001, 0.00001) < 0.05


def test_means_that_are_rounded_miss_more_often():
    near = NearAverage(120, Fraction(2), 1_000)
    draws = [(Fraction(1, 2), 500.0)] * 2, [(Fraction(1, 2), 4.0)] * 2

    def told(rounded):
        return average_beyond(
            near, draws, GAUSSIAN.sums, miss=0.05, rounded=Fraction(rounded)
        )

    assert told(0) < told(Fraction(1, 2)) < 2 * told(0)
    alone = bound(GAUSSIAN, near, 500 / math.sqrt(2), 4 / math.sqrt(2))
    assert alone <= told(0) < 1.5 * alone
