"""Finer noise given coarser: both have the law of noise with more noise added."""

import os
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from mechanisms.samplers.refined_laplace import (
    LEAST_GAIN,
    refined_laplace,
    refined_values,
)
from mechanisms.samplers.vectors import OsVectorSampler
from privacy.sealed import SATURATION
from tests.unit.mechanisms.samplers.laws import chi_squared_passes

PAIRS = [
    (Fraction(3), Fraction(3, 2)),
    (Fraction(5), Fraction(23, 5)),
    (Fraction(2), Fraction(1, 2)),
    (Fraction(21, 20), Fraction(1)),
    (Fraction(13.7), Fraction(9.25)),
]
REACH = 40


def laplace(ratio, n):
    """Return the probability of n under discrete Laplace noise of a ratio."""
    return (1 - ratio) / (1 + ratio) * ratio ** abs(n)


def added(coarse, fine, n):
    """Return the probability that n is added to fine noise to make it coarse."""
    a, b = exp(-1 / coarse), exp(-1 / fine)
    nothing = b * (1 - a) ** 2 / (a * (1 - b) ** 2)
    return nothing * (n == 0) + (1 - nothing) * laplace(a, n)


def joint(coarse, fine):
    """Return the probability of each (coarse, fine) pair within a reach."""
    numbers = range(-REACH, REACH + 1)
    b = exp(-1 / fine)
    return np.array(
        [[laplace(b, j) * added(coarse, fine, k - j) for j in numbers] for k in numbers]
    )


@pytest.mark.parametrize(("coarse", "fine"), PAIRS)
def test_coarse_noise_is_fine_noise_with_noise_added(coarse, fine):
    sums = joint(coarse, fine).sum(axis=1)
    middle = slice(REACH - 8, REACH + 9)
    known = [laplace(exp(-1 / coarse), n) for n in range(-8, 9)]
    assert sums[middle] == pytest.approx(known, rel=1e-3)


def pairs_drawn(coarse, fine, many, drawn_as=None):
    noise = OsVectorSampler().discrete_laplace(many, coarse)
    finer = refined_laplace(noise, coarse, drawn_as or fine, os.urandom)
    ends = -REACH - 0.5 + np.arange(2 * REACH + 2)
    return np.histogram2d(noise, finer, bins=[ends, ends])[0]


@pytest.mark.statistical
@pytest.mark.parametrize(("coarse", "fine"), PAIRS)
def test_both_together_have_the_law_of_the_proof(coarse, fine):
    many = 400_000
    counted = pairs_drawn(coarse, fine, many)
    law = joint(coarse, fine) * many
    rest = many - counted.sum(), max(0.0, many - law.sum())
    assert chi_squared_passes(
        np.append(counted.ravel(), rest[0]), np.append(law.ravel(), rest[1])
    )


@pytest.mark.statistical
def test_another_scale_is_told_apart():
    counted = pairs_drawn(Fraction(3), Fraction(3, 2), 400_000, Fraction(4, 3))
    law = joint(Fraction(3), Fraction(3, 2)) * 400_000
    assert not chi_squared_passes(counted.ravel(), law.ravel())


@pytest.mark.statistical
def test_a_far_number_is_refined_as_a_near_one():
    """The law given a coarse number far out, where few draws lie by themselves."""
    coarse, fine, many = Fraction(3), Fraction(2), 200_000
    finer = refined_laplace(np.full(many, -25), coarse, fine, os.urandom)
    numbers = range(-REACH, REACH + 1)
    b = exp(-1 / fine)
    law = np.array([laplace(b, j) * added(coarse, fine, -25 - j) for j in numbers])
    counted = np.histogram(finer, bins=-REACH - 0.5 + np.arange(2 * REACH + 2))[0]
    assert chi_squared_passes(counted, law / law.sum() * many)


@pytest.mark.parametrize(
    ("coarse", "fine"), [(Fraction(2), Fraction(2)), (Fraction(1), Fraction(2))]
)
def test_noise_that_gains_nothing_is_refused(coarse, fine):
    with pytest.raises(ValueError, match="less than a twentieth"):
        refined_laplace(np.zeros(1, dtype=np.int64), coarse, fine, os.urandom)


def test_the_least_gain_is_taken():
    noise = np.arange(-50, 51)
    found = refined_laplace(noise, LEAST_GAIN * 10, Fraction(10), os.urandom)
    assert found.shape == noise.shape


def test_values_are_saturated_as_where_they_were_shown():
    beyond = 2 * SATURATION
    (found,) = refined_values([beyond], [SATURATION + 7], Fraction(50), Fraction(1, 50))
    assert found in range(SATURATION - 60, SATURATION + 60)


def test_tiny_noise_gives_the_exact_numbers():
    exact = list(range(-20, 21))
    shown = [n + 3 for n in exact]
    assert refined_values(exact, shown, Fraction(5), Fraction(1, 60)) == exact
