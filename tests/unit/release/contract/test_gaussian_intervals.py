"""Half-widths of sums of Gaussian noise, held against the exact law of the sums."""

import numpy as np
import pytest

from mechanisms.scales.gaussian.half_widths import gaussian_half_width
from mechanisms.scales.noises import GAUSSIAN
from release.contract.intervals import (
    CONFIDENCE,
    draw_half_width,
    noise_variance,
    sum_half_widths,
)

SCALES = (0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0, 1.3, 2.0, 3.7)
DRAWS = (1, 2, 3, 5, 9, 20, 47)


def law(scale):
    steps = np.arange(-40 * max(1, int(scale) + 1), 40 * max(1, int(scale) + 1) + 1)
    weights = np.exp(-np.square(steps / scale) / 2)
    return steps, weights / weights.sum()


@pytest.mark.parametrize("scale", SCALES)
def test_the_variance_is_that_of_the_discrete_law(scale):
    steps, chances = law(scale)
    assert noise_variance(scale, GAUSSIAN) == pytest.approx(chances @ steps**2)


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.7, 16.5, 900.0])
def test_one_draw_has_its_exact_half_width(scale):
    exact = gaussian_half_width(scale, CONFIDENCE)
    assert int(draw_half_width(scale, GAUSSIAN)) == exact


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("draws", DRAWS)
def test_sums_lie_within_their_half_widths_93_times_in_100(scale, draws):
    _, one = law(scale)
    whole = np.array([1.0])
    for _ in range(draws):
        whole = np.convolve(whole, one)
        middle = len(whole) // 2
        kept = min(middle, int(60 * scale * draws**0.5) + 60)
        whole = whole[middle - kept : middle + kept + 1]
    middle = len(whole) // 2
    width = int(sum_half_widths(np.array([draws]), scale, GAUSSIAN)[0])
    covered = whole[middle - width : middle + width + 1].sum()
    assert covered >= 0.93
    if scale >= 2:
        assert covered <= 0.985
