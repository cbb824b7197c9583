"""PrivTree: a tree cut by biased tests, whose price does not grow with its depth."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter, Part
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.models import CubeModel, IntArray
from release.contract.parameters import (
    divide,
    refuse_small_parts,
    refuse_small_tests,
    refuse_unknown,
    share,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.partition import PartitionModel
from release.cubes.models.parts.boxes import Boxes, cut_boxes
from release.cubes.models.parts.levels import Level
from release.cubes.strategies.partitions.agrid import total_rmse
from release.cubes.strategies.partitions.grid import refuse_shape

MAX_DIMENSIONS: Final = 4

MAX_NODES: Final = 4_000_000
"""A full tree that is deeper than this many leaves ends there."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Leaves of a tree, and the branches halfway down that they hang on.

    Attributes:
        leaves: They cover the domain; those of one branch stand together.
        owners: The branch of each leaf, ascending.
        branches: Boxes of the middle depth, and leaves above it.
    """

    leaves: Boxes
    owners: IntArray
    branches: Boxes


class PrivTree:
    """Halves all axes of boxes that pass a test, then counts branches and leaves.

    Source: Zhang, Xiao and Xie 2016; docs/proofs/privtree.md, docs/proofs/trees.md.
    """

    name = "privtree"

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the parts of all tests together, of the branches and of the leaves."""
        refuse_unknown(parameters, ("tests_share",))
        refuse_shape(domain)
        if len(domain.dimensions) > MAX_DIMENSIONS:
            message = f"privtree takes at most {MAX_DIMENSIONS} dimensions"
            raise ReleaseRefusedError(message)
        tests = share(parameters, "tests_share", "0.3")
        rest = 1 - tests
        weights = [("tests", tests), ("branches", rest * 3 / 10)]
        parts = divide(loss, [*weights, ("leaves", rest * 7 / 10)])
        refuse_small_tests(domain.bound, _fanout(domain), parts[0].loss)
        refuse_small_parts(domain.bound, parts[1:])
        return parts

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return nothing certain: how many leaves there are depends on the counts."""
        parts = self.parts(domain, loss, parameters)
        least = total_rmse(domain, parts[2])
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words="Sums grow with the square root of the number of leaves that they "
            f"hold, each with an error of {least:.3g}.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Grow the tree, then measure branches and leaves.

        Neighbouring relation: add or remove all rows of one unit.
        """
        refuse_unknown(parameters, ("tests_share",))
        tree = _grow(cube, meter)
        levels = []
        owners = np.zeros(len(tree.branches), dtype=np.int64)
        for name, boxes, parents in (
            ("branches", tree.branches, owners),
            ("leaves", tree.leaves, tree.owners),
        ):
            sums = cube.box_sums(boxes.lower, boxes.upper)
            noisy = meter.counts(name, sums, cube.domain.bound)
            levels.append(Level(parents, noisy.values, noisy.scale, float(len(boxes))))
        names = ("branches", "leaves")
        return PartitionModel(
            cube.domain, names, tuple(levels), tree.leaves, shrink=False
        )


def _grow(cube: SealedCube, meter: Meter) -> Tree:
    shape = cube.domain.shape
    deepest = _deepest(shape)
    tests = meter.biased_tests("tests", _fanout(cube.domain), cube.domain.bound)
    nodes, owners = Boxes.whole(shape), np.zeros(1, dtype=np.int64)
    leaves: list[Boxes] = []
    of_leaves: list[IntArray] = []
    branches: list[Boxes] = []
    found = 0
    for depth in range(deepest + 1):
        grows = np.zeros(len(nodes), dtype=np.bool_)
        large = np.flatnonzero(nodes.volumes > 1)
        if depth < deepest and len(large):
            counts = cube.box_sums(nodes.lower[large], nodes.upper[large])
            depths = np.full(len(large), depth, dtype=np.int64)
            grows[large] = tests.cuts(counts, depths)
        if depth <= deepest // 2:
            ends = ~grows if depth < deepest // 2 else np.ones_like(grows)
            owners[ends] = found + np.arange(int(ends.sum()))
            found += int(ends.sum())
            branches.append(nodes.take(ends))
        leaves.append(nodes.take(~grows))
        of_leaves.append(owners[~grows])
        halves = np.minimum(nodes.lengths[grows], 2)
        nodes, parents = cut_boxes(nodes.take(grows), halves)
        owners = owners[grows][parents]
    return _ordered(_joined(leaves), np.concatenate(of_leaves), _joined(branches))


def _fanout(domain: CubeDomain) -> int:
    return int(2 ** len(domain.shape))


def _deepest(shape: tuple[int, ...]) -> int:
    """Return how often the longest axis can be halved, or the nodes run out before."""
    halvings = max(length - 1 for length in shape).bit_length()
    affordable = (MAX_NODES.bit_length() - 1) // len(shape)
    return min(halvings, affordable)


def _ordered(leaves: Boxes, owners: IntArray, branches: Boxes) -> Tree:
    order = np.argsort(owners, kind="stable")
    return Tree(leaves.take(order), owners[order], branches)


def _joined(boxes: list[Boxes]) -> Boxes:
    return Boxes(
        np.concatenate([some.lower for some in boxes]),
        np.concatenate([some.upper for some in boxes]),
    )
