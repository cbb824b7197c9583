"""Is Gaussian noise what it says? Fixed sizes and alpha; the wrong scale must fail."""

from fractions import Fraction
from os import urandom

import numpy as np
import pytest
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian
from opendp.metrics import l2_distance

from mechanisms.measuring.discrete_gaussian import DiscreteGaussian
from mechanisms.samplers.gaussian import gaussian
from mechanisms.samplers.queries import QuerySampler
from mechanisms.samplers.vectors import OsVectorSampler
from mechanisms.scales.gaussian.calibration import gaussian_scale
from mechanisms.scales.gaussian.half_widths import gaussian_half_width
from mechanisms.scales.gaussian.sums import gaussian_sum_half_width
from privacy.charges import Charge
from privacy.events import MeasuredVector, VectorSensitivity
from privacy.losses import Loss
from privacy.sealed import Exact
from tests.statistical.laws import (
    alike,
    counted,
    fits,
    gaussian_cdf,
    gaussian_edges,
    gaussian_probabilities,
)
from tests.support.noise.samplers import ScaledSampler

pytestmark = pytest.mark.statistical

DRAWS = 300_000
SCALES = [0.3, 0.5, 1.0, 2.5, 10.0, 1000.0, 1e6, 2.0**40]


def drawn(scale, draws=DRAWS):
    return gaussian(draws, Fraction(scale) ** 2, urandom)


def looks_like(draws, scale):
    cuts = gaussian_edges(scale)
    return fits(counted(draws, cuts), gaussian_probabilities(scale, cuts))


@pytest.mark.parametrize("scale", SCALES)
def test_gaussian_noise_has_the_stated_distribution(scale):
    assert looks_like(drawn(scale), scale)


@pytest.mark.parametrize("factor", [0.5, 0.97, 1.03, 1.5])
@pytest.mark.parametrize("scale", [0.5, 10.0, 1e6])
def test_gaussian_noise_of_the_wrong_scale_is_found(factor, scale):
    assert not looks_like(drawn(scale * factor), scale)


def test_laplace_noise_of_the_same_variance_is_found():
    scale = 10.0
    laplace = OsVectorSampler().discrete_laplace(DRAWS, Fraction(scale / 2**0.5))
    assert not looks_like(laplace, scale)


def noise_of_opendp(size, scale):
    domain = vector_domain(atom_domain(T="i64"))
    measure = make_gaussian(domain, l2_distance(T="f64"), scale=scale)
    return np.array(measure([0] * size))


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [0.5, 10.0, 1000.0])
def test_gaussian_noise_looks_like_opendps(scale):
    cuts = gaussian_edges(scale)
    theirs = counted(noise_of_opendp(30_000, scale), cuts)
    assert alike(counted(drawn(scale), cuts), theirs)
    assert not alike(counted(drawn(scale / 2), cuts), theirs)


@pytest.mark.parametrize("lag", [1, 2, 2**16])
def test_the_gaussian_noise_of_one_cell_tells_nothing_of_anothers(lag):
    pairs_of = np.clip(drawn(1.5), -2, 2) + 2
    pairs = 5 * pairs_of[:-lag] + pairs_of[lag:]
    if lag < 2**16:  # pairs that share no draw
        first = np.arange(len(pairs)) // lag % 2 == 0
        pairs = pairs[first]
    law = gaussian_probabilities(1.5, np.array([-2, -1, 0, 1]))
    assert fits(np.bincount(pairs, minlength=25), np.outer(law, law).ravel())


def measured(sampler, at=123_456):
    """Return the noise of a vector that the mechanism measured, and its scale."""
    loss = Loss(5_000_000)
    one = VectorSensitivity(Fraction(1), Fraction(1), Fraction(1))
    vector = MeasuredVector(one, loss, gaussian_scale(one.l2_squared, loss))
    noisy = DiscreteGaussian(vector.scale).measure(
        Exact((at,) * 50_000), Charge("q_test", loss), vector, sampler
    )
    return np.array(noisy) - at, vector.scale


def test_what_the_mechanism_adds_has_the_stated_distribution():
    assert looks_like(*measured(QuerySampler()))


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_a_mechanism_with_noise_of_the_wrong_scale_is_found(factor):
    assert not looks_like(*measured(ScaledSampler(factor)))


def holds_as_often(inside, probability, draws=DRAWS):
    """Whether so many of the draws lie inside; beyond it by chance once in 10**8."""
    spread = (draws * probability * (1 - probability)) ** 0.5
    return abs(inside - draws * probability) < 5.8 * spread


@pytest.mark.parametrize("scale", [0.5, 3.0, 10.0, 1000.0, 1e6])
def test_the_gaussian_half_width_holds_as_often_as_it_says(scale):
    width = gaussian_half_width(scale, Fraction(95, 100))
    inside = int((np.abs(drawn(scale)) <= width).sum())
    probability = float(gaussian_cdf(scale, width) - gaussian_cdf(scale, -width - 1))
    assert probability >= 0.95
    assert holds_as_often(inside, probability)


SUMS = [
    [(1, 2.5, 4)],
    [(1, 0.4, 20)],
    [(2, 3.0, 1), (-2, 40.0, 2)],
    [(1, 5.0, 3), (-7, 1.0, 2)],
    [(1, 1000.0, 9), (3, 10.0, 40)],
]


@pytest.mark.parametrize("draws", SUMS)
def test_half_widths_of_sums_of_gaussian_noise_hold(draws):
    exact = [(Fraction(weight), scale, n) for weight, scale, n in draws]
    width = gaussian_sum_half_width(exact, Fraction(5, 100))
    rows = 60_000
    total = np.zeros(rows)
    for weight, scale, n in draws:
        total += weight * drawn(scale, rows * n).reshape(rows, n).sum(1)
    misses = int((np.abs(total) > float(width)).sum())
    assert misses < 0.05 * rows + 5 * (0.05 * 0.95 * rows) ** 0.5
