import numpy as np
import pytest

from release.contract.models import Roll
from release.cubes.models.parts.rolling import (
    cell_groups,
    check_roll,
    group_sizes,
    group_sums,
)

SHAPE = (3, 4, 5)


def random_roll(generator, masked):
    groups = tuple(int(generator.integers(1, 5)) for _ in SHAPE)
    codes = tuple(
        generator.integers(-1, count, n) for n, count in zip(SHAPE, groups, strict=True)
    )
    mask = generator.random(SHAPE) < 0.7 if masked else None
    return Roll(codes, groups, mask)


@pytest.mark.parametrize("masked", [False, True])
def test_sums_by_axis_equal_sums_cell_by_cell(masked):
    generator = np.random.default_rng(3)
    for _ in range(200):
        roll = random_roll(generator, masked)
        values = generator.integers(-50, 50, 60)
        groups = cell_groups(roll)
        size = int(np.prod(roll.groups))
        slow = np.zeros(size, dtype=np.int64)
        count = np.zeros(size, dtype=np.int64)
        for cell, group in enumerate(groups):
            if group >= 0:
                slow[group] += values[cell]
                count[group] += 1
        assert np.array_equal(group_sums(values, SHAPE, roll), slow)
        assert np.array_equal(group_sizes(roll), count)


def test_a_roll_that_does_not_fit_the_domain_is_refused():
    whole = tuple(np.zeros(n, dtype=np.int64) for n in SHAPE)
    check_roll(SHAPE, Roll(whole, (1, 1, 1)))
    wrong = [
        Roll(whole[:2], (1, 1)),
        Roll((whole[0] + 1, *whole[1:]), (1, 1, 1)),
        Roll((whole[0] - 2, *whole[1:]), (1, 1, 1)),
        Roll(whole, (1, 1, 1), np.ones(59, dtype=bool)),
    ]
    for roll in wrong:
        with pytest.raises(ValueError, match="does not fit"):
            check_roll(SHAPE, roll)
