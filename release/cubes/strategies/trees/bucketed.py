"""The second step of strategies that find buckets first: a tree over the buckets."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter
from privacy.counts import IntArray
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.parameters import divide, refuse_too_small
from release.contract.sealed_cube import SealedCube
from release.cubes.models.parts.unevenness import Spread
from release.cubes.models.trees.layouts import flat_layout, weighted_layout
from release.cubes.models.trees.tree import TreeModel
from release.cubes.strategies.trees.levels import Runs, measure_levels

THINNEST: Final = 20
"""No level of a tree over buckets gets less than a twentieth of its part."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """Runs of cells along an order, made of noisy values and public facts alone.

    Attributes:
        name: Of the order, as the model knows it.
        order: Which cell stands at each place; None: C order.
        starts: First place of each bucket.
        spread: What was measured of the cells inside, if anything.
    """

    name: str
    order: IntArray | None
    starts: IntArray
    spread: Spread | None = None


def refuse_thin_levels(domain: CubeDomain, loss: Loss) -> None:
    """Refuse a part of which a tree's level may get too little.

    Raises:
        ReleaseRefusedError: A twentieth of it buys no noise.

    Neighbouring relation: add or remove all rows of one unit.
    """
    refuse_too_small(domain.bound, Loss(loss.nano_epsilon // THINNEST))


def measure_buckets(
    cube: SealedCube, meter: Meter, part: str, buckets: Buckets, strategy: str
) -> TreeModel:
    """Spend a part on the tree over buckets that serves running sums best.

    The layout is a function of the buckets' sizes; the part divides over its levels. In
    a plane each bucket is counted by itself: boxes cross an order too often.
    Neighbouring relation: add or remove all rows of one unit.
    """
    sizes = np.diff(buckets.starts, append=cube.domain.size)
    cells = sizes.astype(np.float64)
    line = len(cube.domain.shape) == 1
    layout = weighted_layout(cells) if line else flat_layout(len(cells))
    names = [f"level {n}" for n in range(len(layout.shares))]
    weights = list(zip(names, layout.shares, strict=True))
    inner = meter.divide(part, divide(meter.left(part), weights))
    runs = Runs(buckets.order, buckets.starts, layout.tree)
    values, scales = measure_levels(cube, inner, names, runs)
    return TreeModel(
        domain=cube.domain,
        order=buckets.name,
        buckets=buckets.starts,
        tree=layout.tree,
        values=values,
        scales=scales,
        spread=buckets.spread,
        strategy=strategy,
    )
