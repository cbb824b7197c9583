"""A hierarchy of sums over all cells: the fallback that has no choice to get wrong."""

import math
from fractions import Fraction

import numpy as np

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.calibration import laplace_scale
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.intervals import noise_variance
from release.contract.models import CubeModel
from release.contract.parameters import (
    divide,
    refuse_large,
    refuse_small_parts,
    refuse_unknown,
    whole,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.trees.hierarchy import Weights, answer_variances, combine
from release.cubes.models.trees.layouts import box_fanouts, line_fanouts
from release.cubes.models.trees.orders import BLOCKS, ROWS, Fanouts, block_tree
from release.cubes.models.trees.tree import TreeModel
from release.cubes.strategies.trees.levels import Runs, measure_levels

MOST_AXES = 2
MOST_BRANCHING = 4_096


class HB:
    """Equal parts for the levels of a b-ary tree without a root, then least squares.

    Source: docs/proofs/hb.md.
    """

    name = "hb"

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return one part a level, from the top."""
        fanouts = _fanouts(domain, parameters)
        levels = [(f"level {n}", Fraction(1)) for n in range(len(fanouts))]
        parts = divide(loss, levels)
        refuse_small_parts(domain.bound, parts)
        return parts

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the exact error of least squares; the view is seldom worse."""
        parts = self.parts(domain, loss, parameters)
        _, tree = block_tree(domain.shape, _fanouts(domain, parameters))
        variances = [
            noise_variance(laplace_scale(Fraction(domain.bound), part.loss))
            for part in parts
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
        fanouts = _fanouts(cube.domain, parameters)
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
        )


def _fanouts(domain: CubeDomain, parameters: Parameters) -> Fanouts:
    refuse_unknown(parameters, ["branching"])
    refuse_large(domain)
    if len(domain.shape) > MOST_AXES:
        message = "hb takes one or two dimensions; take cells or auto for more"
        raise ReleaseRefusedError(message)
    if "branching" in parameters:
        branching = whole(parameters, "branching", 16, MOST_BRANCHING)
        return _even_fanouts(domain.shape, branching)
    if len(domain.shape) == 1:
        return tuple((fanout,) for fanout in line_fanouts(domain.size))
    return box_fanouts(domain.shape)


def _even_fanouts(shape: tuple[int, ...], branching: int) -> Fanouts:
    if branching == 1:
        message = "a tree's branching is 2 or more"
        raise ReleaseRefusedError(message)
    height, reach = 1, branching
    while reach < max(shape):
        height, reach = height + 1, reach * branching
    return ((branching,) * len(shape),) * height
