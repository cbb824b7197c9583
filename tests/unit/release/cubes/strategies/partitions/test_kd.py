import numpy as np
import pytest

from release.cubes.strategies.partitions.kd import (
    information_gain,
    partition,
    squared_error,
)


def boxes(labels, shape):
    """How many cells each box has, having checked that each is one."""
    labels = labels.reshape(shape)
    sizes = []
    for label in range(labels.max() + 1):
        places = np.argwhere(labels == label)
        size = np.prod(places.max(0) - places.min(0) + 1)
        assert size == len(places)
        sizes.append(int(size))
    return sizes


def test_an_even_grid_stays_whole():
    assert boxes(partition(np.full((8, 8), 5.0), 1.0, squared_error(3)), (8, 8)) == [64]


def test_two_halves_are_told_apart_where_they_meet():
    image = np.zeros((8, 8))
    image[:, 3:] = 50.0
    labels = partition(image, 1.0, squared_error(3)).reshape(8, 8)
    assert np.array_equal(np.unique(labels[:, :3]), [0])
    assert np.array_equal(np.unique(labels[:, 3:]), [1])


def test_a_lone_peak_amid_emptiness_is_found():
    image = np.zeros((9, 9))
    image[4, 5] = 40.0
    labels = partition(image, 1.0, squared_error(3)).reshape(9, 9)
    assert (labels == labels[4, 5]).sum() == 1


def test_pure_noise_is_seldom_cut():
    generator = np.random.default_rng(0)
    pieces = [
        partition(generator.laplace(0, 10, (16, 16)), 200.0, squared_error(8)).max() + 1
        for _ in range(50)
    ]
    assert np.mean(pieces) < 30


def test_information_gain_cuts_the_mass_into_equal_halves():
    image = np.array([90.0, 1, 1, 1, 1, 1, 1, 94])
    labels = partition(image, 1.0, information_gain(0.6))
    assert np.array_equal(labels, [0, 0, 0, 0, 0, 0, 1, 1])


def test_information_gain_stops_within_the_noise():
    image = np.array([1.0, 0, 2, 0, 1, 0])
    assert partition(image, 200.0, information_gain(0.0)).max() == 0


def test_a_higher_threshold_never_cuts_more():
    generator = np.random.default_rng(3)
    image = generator.poisson(20, (20, 20)) + generator.laplace(0, 5, (20, 20))
    counts = [
        partition(image, 50.0, information_gain(g)).max() for g in (0.0, 0.3, 0.68, 0.7)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0


@pytest.mark.parametrize("rule", [squared_error(1.0), information_gain(0.0)])
def test_every_box_is_a_box(rule):
    generator = np.random.default_rng(5)
    image = generator.gamma(0.3, 60, (7, 6, 5))
    assert sum(boxes(partition(image, 4.0, rule), (7, 6, 5))) == image.size
