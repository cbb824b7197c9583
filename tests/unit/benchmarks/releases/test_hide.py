"""HIDE's experiments: the registry, and what is said of the baseline."""

import numpy as np
import pytest

from benchmarks.releases.cancer import PATIENTS, SHAPE, YEAR, registry
from benchmarks.releases.hide import average_slope, died_by, theirs

FLOORED_AND_CLAMPED = 1 / (2 * (np.exp(0.5) - 1))  # mean of an empty cell at 0.5


def test_the_registry_has_the_dissertations_size_and_trend():
    image = registry()
    assert image.shape == SHAPE
    assert image.size == 673_920
    assert image.sum() == PATIENTS == 22_174
    assert average_slope(died_by(image, YEAR)[:, 1]) == pytest.approx(-76.14, abs=1)
    assert np.array_equal(image, registry())


def test_the_baselines_error_as_reported_is_that_of_its_clamp():
    cells = SHAPE[0] * SHAPE[1] * np.prod(SHAPE[3:5]) * SHAPE[6]
    assert 6_787 < cells * FLOORED_AND_CLAMPED < 7_447
    empty = theirs(np.zeros(100_000), "0.5", np.random.default_rng(1))
    assert empty.mean() == pytest.approx(FLOORED_AND_CLAMPED, abs=0.05)
