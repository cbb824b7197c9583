"""Is the noise what it says? Fixed size and alpha; the wrong scale must fail."""

import math
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chi2

from mechanisms.samplers.laplace import OpenDPSampler
from mechanisms.scales.calibration import laplace_scale
from mechanisms.scales.half_widths import half_width
from privacy.losses import Loss
from tests.support.noise.samplers import ScaledSampler

pytestmark = pytest.mark.statistical

ALPHA = 1e-6
DRAWS = 20_000
EXPECTED_AT_LEAST = 40  # draws in each bin


def probability(scale, value):
    a = math.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** abs(value)


def tail(scale, beyond):
    a = math.exp(-1 / scale)
    return a ** (beyond + 1) / (1 + a)


def chi_squared(draws, scale):
    """Return the statistic over single values and two tails, and its freedom."""
    edge = 0
    while DRAWS * tail(scale, edge + 1) >= EXPECTED_AT_LEAST:
        edge += 1
    seen = Counter(max(-edge - 1, min(edge + 1, draw)) for draw in draws)
    expected = {v: DRAWS * probability(scale, v) for v in range(-edge, edge + 1)}
    expected[edge + 1] = expected[-edge - 1] = DRAWS * tail(scale, edge)
    statistic = sum((seen[v] - e) ** 2 / e for v, e in expected.items())
    return statistic, len(expected) - 1


def looks_right(sampler, scale, at=0):
    draws = [v - at for v in sampler.discrete_laplace([at] * DRAWS, scale)]
    statistic, freedom = chi_squared(draws, scale)
    return statistic < chi2.isf(ALPHA / 4, freedom)


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", ["0.1", "0.7", "2"])
def test_the_noise_has_the_stated_distribution(epsilon):
    scale = laplace_scale(Fraction(1), Loss.parse(epsilon))
    assert looks_right(OpenDPSampler(), scale)


def test_the_noise_does_not_depend_on_the_value():
    assert looks_right(OpenDPSampler(), 3.0, at=123_456_789)


@pytest.mark.sampled
@pytest.mark.parametrize("factor", [0.5, 1.5])
@pytest.mark.parametrize("scale", [10.000000000000002, 0.5])
def test_noise_of_the_wrong_scale_is_found(factor, scale):
    assert not looks_right(ScaledSampler(factor), scale)


def test_the_half_width_holds_as_often_as_it_says():
    scale = 10.000000000000002
    width = half_width(scale, Fraction(95, 100))
    inside = sum(
        abs(v) <= width for v in OpenDPSampler().discrete_laplace([0] * DRAWS, scale)
    )
    probability = 1 - 2 * tail(scale, width)
    deviation = math.sqrt(DRAWS * probability * (1 - probability))
    assert abs(inside - DRAWS * probability) < 5.5 * deviation  # 4e-8 by chance
