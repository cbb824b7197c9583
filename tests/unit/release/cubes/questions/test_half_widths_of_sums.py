"""Exact distributions of sums of noise, by the Fourier transform of their law."""

import math

import numpy as np
import pytest

from release.contract.intervals import (
    WEIGHTED_QUANTILE,
    noise_variance,
    sum_half_widths,
)


def exact_cover(draws, scale, width):
    """P(|sum of draws| <= width), by inverting the characteristic function."""
    spread = 40 * math.sqrt(draws * noise_variance(scale)) + 40 * scale + 64
    size = 2 ** math.ceil(math.log2(2 * spread))
    a = math.exp(-1 / scale)
    angle = 2 * np.pi * np.arange(size) / size
    law = ((1 - a) ** 2 / (1 - 2 * a * np.cos(angle) + a * a)) ** draws
    probabilities = np.fft.ifft(law).real
    return probabilities[0] + 2 * probabilities[1 : int(width) + 1].sum()


@pytest.mark.parametrize("scale", [0.05, 0.2, 0.5, 1, 2, 5, 10, 40, 300])
def test_half_widths_of_sums_cover_and_are_not_wide(scale):
    few = [*range(1, 40), 50, 64, 100, 144, 256]
    for draws in few if scale > 10 else [*few, 1_000, 4_096]:
        width = int(sum_half_widths(np.array([draws]), scale)[0])
        assert exact_cover(draws, scale, width) >= 0.95 - 1e-9, draws
        deviation = math.sqrt(draws * noise_variance(scale))
        if draws > 1:
            assert width <= 2.07 * deviation + 1


def test_no_draws_have_no_error():
    assert sum_half_widths(np.array([0, 0]), 10.0).tolist() == [0, 0]


def test_variances_are_those_of_the_law():
    for scale in (0.3, 1.0, 10.0, 1e6):
        a = math.exp(-1 / scale)
        assert noise_variance(scale) == pytest.approx(2 * a / (1 - a) ** 2, rel=1e-6)


def weighted_cover(weights, sigmas):
    """P(|weighted sum of Laplace draws| <= that many standard deviations), exactly.

    The law of the sum has the characteristic function of independent draws of scale 1:
    the product of 1 / (1 + (w u)^2). Gil-Pelaez's integral gives its distribution.
    """
    weights = np.asarray(weights) / np.linalg.norm(weights)
    width = sigmas * math.sqrt(2)
    step = 0.002
    u = step * (np.arange(2_000_000) + 0.5)
    law = np.ones_like(u)
    for weight in weights:
        law /= 1 + np.square(weight * u)
    return float((np.sin(width * u) / u * law).sum() * step * 2 / math.pi)


@pytest.mark.parametrize(
    "weights",
    [
        [1],
        [1, 0.1],
        [1, 0.3],
        [1, 0.6],
        [1, 1],
        [1, 0.5, 0.25, 0.125],
        [1, *[0.05] * 40],
        [1, *[0.2] * 20],
        [1, 0.9, 0.1],
        [0.3] * 30,
    ],
)
def test_one_quantile_serves_every_weighted_sum(weights):
    assert weighted_cover(weights, WEIGHTED_QUANTILE) >= 0.95
