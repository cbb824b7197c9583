"""How far one unit moves sums of a cube's cells in L2: exact, and squared.

A unit adds whole numbers to cells, at most D in all. Where several of the cells that it
touches lie in one sum, what it adds to them adds up: the sum moves by as much, and its
square counts. Proof: docs/proofs/release_distances.md.
"""

from collections.abc import Sequence
from math import isqrt

import numpy as np

from release.contract.domain import CubeDomain
from release.contract.models import IntArray


def most_squared(bound: int, caps: IntArray) -> int:
    """Return the largest sum of squares of whole numbers that are bounded so.

    Args:
        bound: Of the sum of the numbers.
        caps: Of each of them, at least 0.

    >>> most_squared(5, np.array([1, 3, 1, 1]))
    11
    """
    left, found = bound, 0
    for cap in np.sort(caps)[::-1][:bound].tolist():
        taken = min(left, cap)
        found, left = found + taken**2, left - taken
        if not left:
            break
    return found


def cells_l2_squared(domain: CubeDomain) -> int:
    """Return how far one unit moves the vector of all cells, in L2, squared.

    Neighbouring relation: add or remove all rows of one unit.
    """
    return _alike(domain.bound, domain.most_in_cell, domain.size)


def sums_l2_squared(domain: CubeDomain, owners: IntArray) -> int:
    """Return how far one unit moves sums over disjoint sets of cells, squared.

    Args:
        domain: Of cells that can be held one by one.
        owners: For each cell, C order, the number of its set, from 0.

    Neighbouring relation: add or remove all rows of one unit. Cells that differ in a
    dimension that is constant within each unit are never touched by one unit.
    """
    if domain.bound == 1 or domain.in_cell is None:
        return domain.bound**2
    apart = _constant_places(domain)
    keys = owners * (int(apart.max()) + 1) + apart
    found, cells = np.unique(keys, return_counts=True)
    sets = found // (int(apart.max()) + 1)
    caps = np.zeros(int(sets.max()) + 1, dtype=np.int64)
    np.maximum.at(caps, sets, cells * domain.most_in_cell)
    return most_squared(domain.bound, caps)


def table_l2_squared(
    domain: CubeDomain, axes: Sequence[int], bins: Sequence[IntArray] | None = None
) -> int:
    """Return how far one unit moves the sums over all other dimensions, squared.

    Args:
        domain: Of any size.
        axes: The dimensions that the table has.
        bins: For each dimension of the domain, the bin of each of its values, where
            the table is of bins; public or noisy.

    Neighbouring relation: add or remove all rows of one unit.
    """
    if domain.in_cell is None or domain.bound == 1:
        return domain.bound**2
    beside = domain.most_in_cell
    for axis, dimension in enumerate(domain.dimensions):
        if axis not in axes and not dimension.constant:
            beside *= len(dimension)
    beside = min(beside, domain.bound)
    caps = np.array([beside], dtype=np.int64)
    for axis in axes:
        if domain.dimensions[axis].constant:
            continue  # a unit is in one of its values alone
        sizes = _bin_sizes(domain, axis, bins)
        caps = np.minimum(np.outer(caps, sizes).ravel(), domain.bound)
        caps = np.sort(caps)[::-1][: domain.bound]  # no more of them ever count
    return most_squared(domain.bound, caps)


def root(squared: int) -> int:
    """Return about the root of a squared distance, in 2**-20; it proves nothing."""
    return isqrt(squared << 40)


def _bin_sizes(
    domain: CubeDomain, axis: int, bins: Sequence[IntArray] | None
) -> IntArray:
    """Return how many values of each bin of a dimension one unit may have."""
    if bins is None:
        return np.ones(len(domain.dimensions[axis]), dtype=np.int64)
    return np.bincount(bins[axis])


def _alike(bound: int, cap: int, count: int) -> int:
    """Return ``most_squared`` of ``count`` like caps, however many there are."""
    whole, rest = divmod(bound, cap)
    if whole >= count:
        return count * cap**2
    return whole * cap**2 + rest**2


def _constant_places(domain: CubeDomain) -> IntArray:
    """Return, for each cell, a number of its values of constant dimensions."""
    found = np.zeros(domain.shape, dtype=np.int64)
    for axis, dimension in enumerate(domain.dimensions):
        if dimension.constant:
            along = [1] * len(domain.shape)
            along[axis] = len(dimension)
            found = found * len(dimension) + np.arange(len(dimension)).reshape(along)
    return found.ravel()
