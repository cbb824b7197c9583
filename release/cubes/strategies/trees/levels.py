"""Measures the levels of a tree, each from the raw cells and by a part of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.measuring.meter import Meter
from privacy.counts import IntArray
from release.contract.domain import CubeDomain
from release.contract.rho.distances import sums_l2_squared
from release.contract.sealed_cube import SealedCube
from release.cubes.models.trees.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Runs:
    """Which cells lie under which node.

    Attributes:
        order: Which cell stands at each place; None: C order.
        buckets: First place of each leaf's run of cells; None: a cell a leaf.
        tree: Over the leaves.
    """

    order: IntArray | None
    buckets: IntArray | None
    tree: Hierarchy


def measure_levels(
    cube: SealedCube, meter: Meter, parts: Sequence[str], runs: Runs
) -> tuple[tuple[IntArray, ...], tuple[float, ...]]:
    """Return noisy sums of every node, and each level's scale, from the top.

    Args:
        cube: The raw counts.
        meter: Where the parts are.
        parts: One a level, from the top.
        runs: Public, or made of noisy values.

    Neighbouring relation: add or remove all rows of one unit. The nodes of one level
    are disjoint sets of cells, so D bounds how far a unit moves their sums in L1; how
    far in L2, ``level_squares`` says.
    """
    owners = _leaf_of_cells(cube.domain.size, runs)
    squares = level_squares(cube.domain, runs) if meter.noise.has_l2 else None
    tree = runs.tree
    values: list[IntArray] = []
    scales: list[float] = []
    for level in range(len(tree.starts), -1, -1):
        sums = cube.group_sums(owners, tree.widths[level])
        moved = None if squares is None else squares[level]
        noisy = meter.counts(parts[level], sums, cube.domain.bound, l2_squared=moved)
        values.insert(0, noisy.values)
        scales.insert(0, noisy.scale)
        if level:
            owners = tree.parents(level - 1)[owners]
    return tuple(values), tuple(scales)


def level_squares(domain: CubeDomain, runs: Runs) -> list[int]:
    """Return how far one unit moves each level's sums in L2, squared, from the top.

    What a unit adds to several cells of one node adds up there: the higher the level,
    the farther it moves.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/release_distances.md.
    """
    owners = _leaf_of_cells(domain.size, runs)
    found: list[int] = []
    for level in range(len(runs.tree.starts), -1, -1):
        found.insert(0, sums_l2_squared(domain, owners))
        if level:
            owners = runs.tree.parents(level - 1)[owners]
    return found


def _leaf_of_cells(size: int, runs: Runs) -> IntArray:
    places = np.arange(size)
    if runs.buckets is not None:
        lengths = np.diff(runs.buckets, append=size)
        places = np.repeat(np.arange(len(runs.buckets)), lengths)
    if runs.order is None:
        return places
    leaves = np.empty(size, dtype=np.int64)
    leaves[runs.order] = places
    return leaves
