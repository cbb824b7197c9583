"""A hierarchy of sums over all cells: the fallback that has no choice to get wrong."""

import math
from fractions import Fraction

import numpy as np

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.intervals import noise_variance
from release.contract.models import CubeModel
from release.contract.parameters import (
    divide,
    refuse_large,
    refuse_too_small,
    refuse_unknown,
    whole,
)
from release.contract.rho.distances import root
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.trees.hierarchy import Weights, answer_variances, combine
from release.cubes.models.trees.layouts import box_fanouts, line_fanouts
from release.cubes.models.trees.orders import BLOCKS, ROWS, Fanouts, block_tree
from release.cubes.models.trees.tree import TreeModel
from release.cubes.strategies.trees.levels import Runs, level_squares, measure_levels

MOST_AXES = 2
MOST_BRANCHING = 4_096


class HB:
    """Parts for the levels of a b-ary tree without a root, then least squares.

    Equal ones where losses are pure; where they are rho, in proportion to how far one
    unit moves each level in L2. Source: docs/proofs/hb.md.
    """

    name = "hb"

    def __init__(self, noise: Noise = LAPLACE) -> None:
        self.noise = noise

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return one part a level, from the top."""
        squares = self._squares(domain, parameters)
        levels = [
            (f"level {n}", Fraction(root(square) if self.noise.has_l2 else 1))
            for n, square in enumerate(squares)
        ]
        parts = divide(loss, levels)
        for part, square in zip(parts, squares, strict=True):
            refuse_too_small(domain.bound, part.loss, self.noise, square)
        return parts

    def _squares(self, domain: CubeDomain, parameters: Parameters) -> list[int]:
        """Return how far one unit moves each level in L2, squared, from the top."""
        fanouts = self._fanouts(domain, parameters)
        if not self.noise.has_l2:
            return [domain.bound**2] * len(fanouts)
        order, tree = block_tree(domain.shape, fanouts)
        return level_squares(domain, Runs(order, None, tree))

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the exact error of least squares; the view is seldom worse."""
        parts = self.parts(domain, loss, parameters)
        _, tree = block_tree(domain.shape, self._fanouts(domain, parameters))
        squares = self._squares(domain, parameters)
        variances = [
            noise_variance(
                self.noise.scale(moved_by(domain.bound, square), part.loss), self.noise
            )
            for part, square in zip(parts, squares, strict=True)
        ]
        zeros = [np.zeros(width) for width in tree.widths]
        combined = combine(tree, zeros, variances)
        first = Weights(np.array([0]), np.array([0]), np.array([1.0]), 1)
        cell = float(answer_variances(tree, combined, first)[0])
        return Expectation(
            cell_rmse=math.sqrt(cell),
            total_rmse=math.sqrt(float(combined.variances[0].sum())),
            words="Ranges of any length err about alike, whatever the data.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Draw every level. Neighbouring relation: add or remove all rows of a unit."""
        fanouts = self._fanouts(cube.domain, parameters)
        order, tree = block_tree(cube.domain.shape, fanouts)
        names = [f"level {n}" for n in range(len(fanouts))]
        values, scales = measure_levels(cube, meter, names, Runs(order, None, tree))
        return TreeModel(
            domain=cube.domain,
            order=ROWS if order is None else BLOCKS,
            buckets=None,
            tree=tree,
            values=values,
            scales=scales,
            fanouts=fanouts,
            noise=meter.noise,
        )

    def _fanouts(self, domain: CubeDomain, parameters: Parameters) -> Fanouts:
        return _fanouts(domain, parameters, 1 if self.noise.has_l2 else 2)


def _fanouts(domain: CubeDomain, parameters: Parameters, power: int) -> Fanouts:
    refuse_unknown(parameters, ["branching"])
    refuse_large(domain)
    if len(domain.shape) > MOST_AXES:
        message = "hb takes one or two dimensions; take cells or auto for more"
        raise ReleaseRefusedError(message)
    if "branching" in parameters:
        branching = whole(parameters, "branching", 16, MOST_BRANCHING)
        return _even_fanouts(domain.shape, branching)
    if len(domain.shape) == 1:
        return tuple((fanout,) for fanout in line_fanouts(domain.size, power))
    return box_fanouts(domain.shape, power)


def _even_fanouts(shape: tuple[int, ...], branching: int) -> Fanouts:
    if branching == 1:
        message = "a tree's branching is 2 or more"
        raise ReleaseRefusedError(message)
    height, reach = 1, branching
    while reach < max(shape):
        height, reach = height + 1, reach * branching
    return ((branching,) * len(shape),) * height
