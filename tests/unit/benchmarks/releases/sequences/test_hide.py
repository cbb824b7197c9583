"""HIDE's temporal experiment: the made-up doctors, and what is summed of them."""

import numpy as np

from benchmarks.releases.sequences.hide import (
    LEVELS,
    QUARTERS,
    cube_images,
    doctors,
    image_of,
    slope_counts,
)


def test_most_of_ten_thousand_doctors_rise_and_some_fall():
    rows = doctors()
    assert rows.shape == (10_000, QUARTERS)
    assert set(np.unique(rows)) == set(range(LEVELS))
    assert np.array_equal(rows, doctors())
    falls, even, rises = slope_counts(image_of(rows))
    assert falls + even + rises == 10_000
    assert rises > 5_000 > even > falls > 500


def test_beginnings_of_each_length_count_every_doctor():
    for image in cube_images(image_of(doctors())):
        assert image.sum() == 10_000


def test_a_slope_is_told_by_the_fitted_change():
    image = np.zeros((LEVELS,) * 3)
    image[0, 1, 2], image[2, 2, 2], image[3, 1, 0], image[1, 3, 1] = 5, 3, 2, 1
    assert slope_counts(image).tolist() == [2, 4, 5]
