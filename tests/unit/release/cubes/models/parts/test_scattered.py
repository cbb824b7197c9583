"""Groups with gaps, told from ranges."""

import numpy as np
import pytest

from release.contract.models import Roll
from release.cubes.models.parts.scattered import scattered_groups, scattered_sums


def line(*codes):
    return np.array(codes, dtype=np.int64)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (line(0, 0, -1, -1, -1), [False]),
        (line(-1, -1, 0, 0, -1), [False]),
        (line(0, -1, -1, -1, 0), [True]),  # the ends of an axis do not meet
        (line(0, 1, 2, 3, 4), [False] * 5),
        (line(0, 1, 0, 1, 1), [True, True]),
        (line(-1, -1, -1, -1, -1), [False]),
    ],
)
def test_a_group_has_gaps_where_it_begins_twice(codes, expected):
    roll = Roll((codes,), (len(expected),))
    assert scattered_groups((5,), roll).tolist() == expected


def test_one_dimension_with_gaps_is_enough():
    roll = Roll((line(0, -1, 0), line(0, 1, 1, 1)), (1, 2))
    assert scattered_groups((3, 4), roll).tolist() == [True, True]
    roll = Roll((line(0, 0, -1), line(0, 1, 0, -1)), (1, 2))
    assert scattered_groups((3, 4), roll).tolist() == [True, False]


def test_cells_that_are_no_product_are_looked_at_line_by_line():
    everything = line(0, 0, 0), line(0, 0, 0)
    steps = np.tri(3, dtype=np.bool_)  # one run a line, of another length
    assert not scattered_groups((3, 3), Roll(everything, (1, 1), steps.ravel()))[0]
    steps[2, 1] = False
    assert scattered_groups((3, 3), Roll(everything, (1, 1), steps.ravel()))[0]


def test_masks_tell_what_products_tell():
    generator = np.random.default_rng(5)
    for _ in range(200):
        codes = generator.integers(-1, 2, 6), generator.integers(-1, 2, 5)
        product = Roll(codes, (2, 2))
        masked = Roll(codes, (2, 2), np.ones(30, dtype=np.bool_))
        found = scattered_groups((6, 5), product)
        met = {tuple(pair) for pair in np.argwhere(np.ones((2, 2)))}
        empty = [
            not ((codes[0] == one).any() and (codes[1] == other).any())
            for one, other in sorted(met)
        ]
        assert (
            scattered_groups((6, 5), masked).tolist()
            == np.where(empty, False, found).tolist()
        )


def test_a_sum_is_scattered_by_one_of_its_groups():
    groups = np.array([False, True, False])
    assert scattered_sums(groups, line(0, 0, 1), 3).tolist() == [True, False, False]
