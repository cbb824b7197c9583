"""PrivTree's buckets along one dimension, then a tree of sums over the buckets."""

from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter, Part
from privacy.counts import IntArray
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.models import CubeModel
from release.contract.parameters import (
    divide,
    refuse_large,
    refuse_small_tests,
    refuse_unknown,
    share,
    whole,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.trees.orders import ROWS
from release.cubes.strategies.trees.bucketed import (
    Buckets,
    measure_buckets,
    refuse_thin_levels,
)

MOST_FANOUT: Final = 16


class Pthb:
    """One dimension: cut where counts are, count the leaves by a tree over them.

    Source: Zhang, Xiao and Xie 2016 (PrivTree) for the cuts; docs/proofs/pthb.md.
    """

    name = "pthb"

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the parts of the cuts and of the counts."""
        refuse_unknown(parameters, ["partition_share", "fanout"])
        refuse_large(domain)
        fanout = _fanout(parameters)
        if len(domain.shape) > 1:
            message = "pthb takes one dimension; privtree takes more"
            raise ReleaseRefusedError(message)
        cuts = share(parameters, "partition_share", "0.1")
        parts = divide(loss, [("partition", cuts), ("counts", 1 - cuts)])
        refuse_small_tests(domain.bound, fanout, parts[0].loss)
        refuse_thin_levels(domain, parts[1].loss)
        return parts

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return that the data decide."""
        self.parts(domain, loss, parameters)
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words="Good where counts gather in few places, or are few altogether.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Cut, then count. Neighbouring relation: add or remove all rows of a unit."""
        starts = cut_line(cube, meter, "partition", _fanout(parameters))
        buckets = Buckets(name=ROWS, order=None, starts=starts)
        return measure_buckets(cube, meter, "counts", buckets, self.name)


def _fanout(parameters: Parameters) -> int:
    fanout = whole(parameters, "fanout", 4, MOST_FANOUT)
    if fanout == 1:
        message = "a fanout is 2 or more"
        raise ReleaseRefusedError(message)
    return fanout


def cut_line(cube: SealedCube, meter: Meter, part: str, fanout: int) -> IntArray:
    """Return the first places of PrivTree's leaves, level by level from the root.

    Neighbouring relation: add or remove all rows of one unit.
    """
    tests = meter.biased_tests(part, fanout, cube.domain.bound)
    lower, upper = np.array([0]), np.array([cube.domain.size])
    leaves: list[IntArray] = []
    depth = 0
    while len(lower):
        sums = cube.box_sums(lower[:, None], upper[:, None])
        cut = tests.cuts(sums, np.full(len(lower), depth)) & (upper - lower > 1)
        leaves.append(lower[~cut])
        lower, upper = _children(lower[cut], upper[cut], fanout)
        depth += 1
    return np.sort(np.concatenate(leaves))


def _children(
    lower: IntArray, upper: IntArray, fanout: int
) -> tuple[IntArray, IntArray]:
    widths = -(-(upper - lower) // fanout)
    firsts = lower[:, None] + widths[:, None] * np.arange(fanout)
    lasts = np.minimum(firsts + widths[:, None], upper[:, None])
    some = firsts < lasts
    return firsts[some], lasts[some]
