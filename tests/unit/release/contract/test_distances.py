"""How far one unit moves sums of cells in L2, against units of every kind."""

from itertools import product

import numpy as np
import pytest

from privacy.schema import ColumnType
from release.contract.domain import CubeDomain, Dimension
from release.contract.rho.distances import (
    cells_l2_squared,
    most_squared,
    sums_l2_squared,
    table_l2_squared,
)

SHAPE = (3, 4, 2)


def domain(bound, in_cell=1, constant=()):
    dimensions = tuple(
        Dimension(
            f"d{axis}", ColumnType.INTEGER, tuple(range(n)), True, axis in constant
        )
        for axis, n in enumerate(SHAPE)
    )
    return CubeDomain(dimensions, bound, in_cell)


def units(own, generator, count=400):
    """Units that fill their bound: what each adds to the cells, C order."""
    for _ in range(count):
        image = np.zeros(SHAPE, dtype=np.int64)
        held = tuple(
            int(generator.integers(n)) if dimension.constant else slice(None)
            for n, dimension in zip(SHAPE, own.dimensions, strict=True)
        )
        reached = np.zeros(SHAPE, dtype=bool)
        reached[held] = True
        cells = np.flatnonzero(reached)
        if own.in_cell is None:
            added = generator.choice(cells[: int(generator.integers(1, 4))], own.bound)
        else:
            order = generator.permutation(cells)
            added = np.sort(order)[: own.bound] if generator.random() < 0.5 else order
            added = added[: own.bound]
        np.add.at(image.ravel(), added, 1)
        yield image.ravel()


def squared(sums):
    return int(np.square(sums).sum())


KINDS = [
    pytest.param(domain(bound, in_cell, constant), id=f"{bound}-{in_cell}-{constant}")
    for bound, (in_cell, constant) in product(
        (1, 2, 5, 8),
        ((1, ()), (1, (0,)), (1, (1,)), (1, (0, 2)), (None, ()), (None, (0,))),
    )
    if bound <= 4 or constant != (0, 2)
]


@pytest.mark.parametrize("own", KINDS)
def test_no_unit_moves_cells_or_tables_by_more_than_is_stated(own):
    generator = np.random.default_rng(3)
    bins = [np.arange(3) // 2, np.arange(4) // 3, np.arange(2)]
    tables = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2), ()]
    stated = {axes: table_l2_squared(own, axes) for axes in tables}
    binned = {axes: table_l2_squared(own, axes, bins) for axes in tables}
    for unit in units(own, generator):
        assert squared(unit) <= cells_l2_squared(own)
        image = unit.reshape(SHAPE)
        coarse = np.zeros((2, 2, 2), dtype=np.int64)
        for place in np.ndindex(SHAPE):
            at = tuple(codes[i] for codes, i in zip(bins, place, strict=True))
            coarse[at] += image[place]
        for axes in tables:
            others = tuple(axis for axis in range(3) if axis not in axes)
            assert squared(image.sum(axis=others)) <= stated[axes], axes
            assert squared(coarse.sum(axis=others)) <= binned[axes], axes


@pytest.mark.parametrize("own", KINDS)
@pytest.mark.parametrize("sets", [1, 2, 5, 24])
def test_no_unit_moves_sums_over_sets_of_cells_by_more_than_is_stated(own, sets):
    generator = np.random.default_rng(4)
    owners = np.sort(generator.integers(0, sets, 24))
    stated, most = sums_l2_squared(own, owners), 0
    for unit in units(own, generator):
        moved = squared(np.bincount(owners, unit, sets).astype(np.int64))
        most = max(most, moved)
        assert moved <= stated
    if sets == 1 and not any(one.constant for one in own.dimensions):
        assert most == stated == own.bound**2, "rows of one unit in one sum add up"


def test_a_unit_of_several_rows_in_one_cell_counts_by_the_square_of_them():
    assert cells_l2_squared(domain(6, None)) == 36
    assert cells_l2_squared(domain(6, 1)) == 6


def test_a_constant_dimension_is_one_entry_in_which_all_adds_up():
    own = domain(5, 1, constant=(0,))
    assert table_l2_squared(own, (0,)) == 25
    assert table_l2_squared(own, (1,)) == 4 + 4 + 1  # two cells a value: the third's


def test_the_most_squares_fill_the_largest_first():
    best = max(
        sum(x * x for x in some)
        for some in product(range(4), range(3), range(2), range(2))
        if sum(some) <= 5
    )
    assert most_squared(5, np.array([1, 3, 2, 1])) == best == 13
