"""Two-way sums of a cube under seal, in bins, and how far they are from a forecast."""

from collections.abc import Sequence

import numpy as np

from privacy.counts import IntArray, SparseCounts
from privacy.sealed import Exact
from release.contract.sealed_cube import SealedCube

Pair = tuple[int, int]


def one_way_sums(cube: SealedCube) -> Exact[IntArray]:
    """Return the counts of all dimensions' values, one table after the other.

    Neighbouring relation: add or remove all rows of one unit. It moves each table by at
    most D in L1, and so the whole by at most D times the number of dimensions.
    """
    shape = cube.domain.shape

    def summed(raw: SparseCounts) -> IntArray:
        places = np.unravel_index(raw.cells, shape)
        tables = [np.zeros(length, dtype=np.int64) for length in shape]
        for table, place in zip(tables, places, strict=True):
            np.add.at(table, place, raw.counts)
        return np.concatenate(tables)

    return cube.sparse().map(summed)


def pair_sums(
    cube: SealedCube, pairs: Sequence[Pair], bins: Sequence[IntArray]
) -> Exact[IntArray]:
    """Return the counts of all pairs of dimensions, one table after the other.

    Args:
        cube: Raw counts.
        pairs: Of dimensions.
        bins: For each dimension, the bin of each of its values; public or noisy.

    Neighbouring relation: add or remove all rows of one unit. It moves each table by at
    most D in L1, and so the whole by at most D times the number of pairs.
    """
    shape = cube.domain.shape

    def summed(raw: SparseCounts) -> IntArray:
        places = np.unravel_index(raw.cells, shape)
        coded = [codes[place] for codes, place in zip(bins, places, strict=True)]
        return np.concatenate([_table(raw, coded, pair, bins) for pair in pairs])

    return cube.sparse().map(summed)


def pair_distances(
    cube: SealedCube,
    forecasts: Sequence[tuple[Pair, IntArray]],
    bins: Sequence[IntArray],
    penalties: IntArray,
) -> Exact[IntArray]:
    """Return the L1 distance of each pair's counts from a forecast, less a penalty.

    Args:
        cube: Raw counts.
        forecasts: For each pair, the counts that noisy values predict; integers.
        bins: For each dimension, the bin of each of its values.
        penalties: One a pair; public or noisy.

    Neighbouring relation: add or remove all rows of one unit. One unit moves a pair's
    table by at most D in L1, and its distance from fixed integers by at most that.
    """
    shape = cube.domain.shape

    def scored(raw: SparseCounts) -> IntArray:
        places = np.unravel_index(raw.cells, shape)
        coded = [codes[place] for codes, place in zip(bins, places, strict=True)]
        distances = [
            int(np.abs(_table(raw, coded, pair, bins) - forecast).sum())
            for pair, forecast in forecasts
        ]
        return np.array(distances, dtype=np.int64) - penalties

    return cube.sparse().map(scored)


def _table(
    raw: SparseCounts, coded: Sequence[IntArray], pair: Pair, bins: Sequence[IntArray]
) -> IntArray:
    one, other = pair
    width = int(bins[other].max()) + 1
    size = (int(bins[one].max()) + 1) * width
    table = np.zeros(size, dtype=np.int64)
    np.add.at(table, coded[one] * width + coded[other], raw.counts)
    return table
