"""Every number that a cube's release shows holds its truth, class by class.

Fixed sizes and seeds, so that no run differs from another. A bar is set so far below
93 % as chance could bring intervals of that coverage once in a million choices of the
seeds; the command that measures full counts is
``python -m benchmarks.releases.coverage``.
"""

from math import sqrt

import numpy as np
import pytest

from tests.coverages import DATA, SHAPES, image_of, measure

RUNS = 24
LEAST = 0.93
DEVIATIONS = 4.9
"""Of a normal variable, for one in a million."""

SETTINGS = [
    ("plane", "agrid", 300, "1", 1, "heaped"),
    ("plane", "agrid", 300, "1", 1, "uniform"),
    ("plane", "agrid", 20_000, "0.1", 3, "clustered"),
    ("plane", "agrid", 20_000, "0.3", 1, "spiky"),
    ("plane", "dpcube", 300, "1", 1, "sparse"),
    ("plane", "dpcube", 20_000, "0.5", 1, "skewed"),
    ("plane", "privtree", 300, "3", 3, "spiky"),
    ("plane", "privtree", 20_000, "0.3", 1, "uniform"),
    ("line", "pthb", 300, "1", 1, "diagonal"),
    ("line", "pthb", 20_000, "0.3", 2, "heaped"),
    ("line", "dawa", 300, "1", 1, "skewed"),
    ("line", "dawa", 20_000, "0.5", 1, "clustered"),
    ("line", "hb", 20_000, "3", 1, "spiky"),
    ("plane", "hb", 300, "0.5", 1, "diagonal"),
    ("plane", "cells", 3_000, "0.5", 1, "sparse"),
    ("cube", "auto", 300, "1", 1, "heaped"),
    ("cube", "agrid", 20_000, "0.5", 2, "skewed"),
]
"""Domain, strategy, total, epsilon, D, and the shape of the data."""


def bar(numbers, runs):
    """Return the least coverage that is not below 93 % beyond chance.

    Numbers of one release share its noise: each release counts as one draw, but for
    what differs within it.
    """
    draws = runs * min(4.0, sqrt(numbers / runs))
    return LEAST - DEVIATIONS * sqrt(LEAST * (1 - LEAST) / draws)


@pytest.mark.statistical
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: "-".join(map(str, one)))
def test_every_class_of_question_holds(setting):
    shape, strategy, total, loss, bound, data = setting
    image = image_of(data, SHAPES[shape], total)

    seen = measure(image, strategy, loss, bound=bound, runs=RUNS)

    least = {kind: bar(len(one.held), RUNS) for kind, one in seen.items()}
    low = {kind: one.coverage for kind, one in seen.items()}
    assert {kind for kind in low if low[kind] < least[kind]} == set(), low


def test_every_shape_of_data_is_tried():
    assert {setting[-1] for setting in SETTINGS} == set(DATA)
    for data in DATA:
        assert image_of(data, SHAPES["plane"], 1_000).sum() == 1_000
        assert np.array_equal(*(image_of(data, (9, 8), 50) for _ in range(2)))
