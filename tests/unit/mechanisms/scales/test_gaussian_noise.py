"""Gaussian noise: its scale, its tails, and sums of its draws, against exact laws."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.samplers.laplace import opendp_rho_ceil
from mechanisms.scales.gaussian.calibration import gaussian_scale
from mechanisms.scales.gaussian.half_widths import gaussian_half_width
from mechanisms.scales.pricing import price, solve_accuracy
from mechanisms.scales.sum_tails import GAUSSIAN_SUMS
from mechanisms.scales.weighted_sums import (
    Draws,
    NoisyFraction,
    fraction_ends,
    sum_half_width,
)
from privacy.errors import InvalidLossError
from privacy.events import VectorSensitivity
from privacy.losses import MAX_NANO, Loss
from privacy.measures import zcdp

RHO = zcdp(Loss.parse("0.000001"))
MISS = Fraction(5, 100)


def law(sigma, reach):
    """Return the probabilities of -reach..reach of a discrete Gaussian draw."""
    found = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    return found / found.sum()


def exact_miss(weights, sigmas, width, reach=200):
    """Return P(|sum| > width) of whole weights, by convolution."""
    whole = np.array([1.0])
    for weight, sigma in zip(weights, sigmas, strict=True):
        one = np.zeros(2 * reach * weight + 1)
        one[::weight] = law(sigma, reach)
        whole = np.convolve(whole, one)
    middle = len(whole) // 2
    return 1 - whole[max(0, middle - width) : middle + width + 1].sum()


@pytest.mark.parametrize("squared", [1, 2, 3, 4, 1_000_003, 2**124])
@pytest.mark.parametrize("nano", [1, 3, 10**6, 5 * 10**8, 10**9 + 7, MAX_NANO])
def test_the_scale_is_the_least_that_spends_at_most_the_loss(squared, nano):
    loss = Loss(nano)
    try:
        sigma = gaussian_scale(Fraction(squared), loss)
    except InvalidLossError:
        assert Fraction(squared, 2**81) > loss.epsilon
        return

    def spends(scale):
        exact = squared / (2 * Fraction(scale) ** 2)
        root = math.sqrt(squared)
        while Fraction(root) ** 2 < squared:
            root = math.nextafter(root, math.inf)
        return max(exact, Fraction(opendp_rho_ceil(scale, root)))

    assert spends(sigma) <= loss.epsilon
    assert spends(math.nextafter(sigma, 0)) > loss.epsilon


def test_nothing_and_what_needs_endless_noise_are_refused():
    with pytest.raises(InvalidLossError):
        gaussian_scale(Fraction(1), Loss(0))
    with pytest.raises(InvalidLossError, match=r"2\*\*40"):
        gaussian_scale(Fraction(2**124), Loss(1))
    with pytest.raises(ValueError, match="positive"):
        gaussian_scale(Fraction(0), Loss(1))


@pytest.mark.parametrize("sigmas", [(2.0, 2.0), (5.0, 9.0), (3.0, 3.0, 3.0, 20.0)])
def test_sums_with_one_weight_are_a_step_too_wide_at_most(sigmas):
    draws = [(Fraction(1, 2), sigma, 1) for sigma in sigmas]
    told = sum_half_width(draws, MISS, GAUSSIAN_SUMS)
    width = int(told * 2)
    ones = [1] * len(sigmas)
    assert exact_miss(ones, sigmas, width) <= float(MISS)
    assert exact_miss(ones, sigmas, width - 2) > float(MISS)  # a step more at most


@pytest.mark.parametrize("weights", [(1, 3), (2, 1, 5), (1, 1, 1)])
@pytest.mark.parametrize("sigma", [0.3, 0.8, 1.7, 6.0])
def test_other_sums_hold_and_are_a_step_of_each_draw_too_wide_at_most(weights, sigma):
    draws = [(Fraction(weight), sigma, 1) for weight in weights]
    told = int(sum_half_width(draws, MISS, GAUSSIAN_SUMS))
    sigmas = [sigma] * len(weights)
    assert exact_miss(weights, sigmas, told) <= float(MISS)
    spread = 1.96 * sigma * math.sqrt(sum(w * w for w in weights))
    assert told <= spread + sum(weights) + 1


def test_sums_of_many_draws_are_hardly_wider_than_their_deviation_says():
    draws = [(Fraction(1), 6.0, 500), (Fraction(1, 2), 6.0, 300)]
    told = float(sum_half_width(draws, MISS, GAUSSIAN_SUMS))
    deviation = 6 * math.sqrt(500 + 75)
    assert 1.96 * deviation < told < 2.7 * deviation


def test_an_interval_of_a_ratio_is_fiellers():
    sigma, count, whole = 10.0, 400, 2_000
    draws = (
        Draws(Fraction(1), Fraction(0), sigma),
        Draws(Fraction(0), Fraction(1), sigma),
    )
    share = Fraction(count, whole)
    ((low, high),) = fraction_ends(
        [NoisyFraction(share, Fraction(whole), draws)], MISS, GAUSSIAN_SUMS
    )
    deviation = sigma * math.sqrt(1 + float(share) ** 2) / whole
    assert 1.9 * deviation < float(share - low) < 2.2 * deviation
    assert 1.9 * deviation < float(high - share) < 2.2 * deviation


def test_parts_of_a_rho_buy_their_vectors():
    one = VectorSensitivity(Fraction(1), Fraction(1), Fraction(1))
    many = VectorSensitivity(Fraction(9), Fraction(9), Fraction(1))
    event = price([one, many], [Fraction(3), Fraction(1)], Loss.parse("0.4"), RHO)
    assert event.measure == RHO
    assert [vector.loss for vector in event.vectors] == [
        Loss.parse("0.3"),
        Loss.parse("0.1"),
    ]
    assert event.vectors[0].scale == gaussian_scale(Fraction(1), Loss.parse("0.3"))
    # nine groups of a patient are as far as three, not as nine
    assert event.vectors[1].scale == gaussian_scale(Fraction(9), Loss.parse("0.1"))


@pytest.mark.parametrize("within", [1, 7, 150])
def test_an_accuracy_costs_the_least_rho_that_brings_it(within):
    one = VectorSensitivity(Fraction(2), Fraction(2), Fraction(1))
    found = solve_accuracy(
        [one],
        [Fraction(1)],
        withins=[Fraction(within)],
        confidence=Fraction(95, 100),
        minimum=Loss(1),
        maximum=Loss.parse("50"),
        measure=RHO,
    )
    widths = [
        gaussian_half_width(gaussian_scale(Fraction(2), Loss(nano)), 1 - MISS)
        for nano in (found.nano_epsilon, found.nano_epsilon - 1)
    ]
    assert widths[0] <= within < widths[1]
