"""Exact distributions of sums of noise, by the Fourier transform of their law."""

import math

import numpy as np
import pytest

from release.models.intervals import noise_variance, sum_half_widths


def exact_cover(draws, scale, width):
    """P(|sum of draws| <= width), by inverting the characteristic function."""
    spread = 40 * math.sqrt(draws * noise_variance(scale)) + 40 * scale + 64
    size = 2 ** math.ceil(math.log2(2 * spread))
    a = math.exp(-1 / scale)
    angle = 2 * np.pi * np.arange(size) / size
    law = ((1 - a) ** 2 / (1 - 2 * a * np.cos(angle) + a * a)) ** draws
    chances = np.fft.ifft(law).real
    return chances[0] + 2 * chances[1 : int(width) + 1].sum()


@pytest.mark.parametrize("scale", [0.05, 0.2, 0.5, 1, 2, 5, 10, 40, 300])
def test_half_widths_of_sums_cover_and_are_not_wide(scale):
    few = [*range(1, 40), 50, 64, 100, 144, 256]
    for draws in few if scale > 10 else [*few, 1_000, 4_096]:
        width = sum_half_widths(np.array([draws]), scale)[0]
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
