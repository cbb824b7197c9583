"""Is Gaussian noise what it says? Fixed size and alpha; the wrong scale must fail."""

import math
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chi2

from mechanisms.samplers.laplace import OpenDPSampler
from mechanisms.scales.gaussian_calibration import gaussian_scale
from mechanisms.scales.gaussian_tails import gaussian_half_width
from privacy.losses import Loss
from tests.support.noise.samplers import ScaledSampler

pytestmark = pytest.mark.statistical

ALPHA = 1e-6
DRAWS = 20_000
EXPECTED_AT_LEAST = 40  # draws in each bin


def law(sigma):
    reach = math.ceil(40 * sigma)
    weights = [math.exp(-0.5 * (k / sigma) ** 2) for k in range(-reach, reach + 1)]
    whole = math.fsum(weights)
    return {k - reach: weight / whole for k, weight in enumerate(weights)}


def chi_squared(draws, sigma):
    """Return the statistic over single values and two tails, and its freedom."""
    probabilities, edge = law(sigma), 0
    while DRAWS * tail(probabilities, edge + 1) >= EXPECTED_AT_LEAST:
        edge += 1
    seen = Counter(max(-edge - 1, min(edge + 1, draw)) for draw in draws)
    expected = {v: DRAWS * probabilities[v] for v in range(-edge, edge + 1)}
    expected[edge + 1] = expected[-edge - 1] = DRAWS * tail(probabilities, edge)
    statistic = sum((seen[v] - e) ** 2 / e for v, e in expected.items())
    return statistic, len(expected) - 1


def tail(probabilities, beyond):
    return math.fsum(p for value, p in probabilities.items() if value > beyond)


def looks_right(sampler, sigma, at=0):
    draws = [v - at for v in sampler.discrete_gaussian([at] * DRAWS, sigma)]
    statistic, freedom = chi_squared(draws, sigma)
    return statistic < chi2.isf(ALPHA / 4, freedom)


@pytest.mark.sampled
@pytest.mark.parametrize("rho", ["0.005", "0.2", "2"])
def test_the_noise_has_the_stated_distribution(rho):
    assert looks_right(OpenDPSampler(), gaussian_scale(Fraction(1), Loss.parse(rho)))


@pytest.mark.parametrize("factor", [0.5, 0.9, 1.5])
def test_noise_of_another_scale_fails(factor):
    assert not looks_right(ScaledSampler(factor), 10.0)


def test_half_widths_hold_as_often_as_they_say():
    sigma, confidence = 10.0, Fraction(95, 100)
    width = gaussian_half_width(sigma, confidence)
    draws = OpenDPSampler().discrete_gaussian([0] * DRAWS, sigma)
    missed = sum(abs(draw) > width for draw in draws) / DRAWS
    exact = 1 - math.fsum(p for v, p in law(sigma).items() if abs(v) <= width)
    assert abs(missed - exact) < 5 * math.sqrt(exact / DRAWS)
