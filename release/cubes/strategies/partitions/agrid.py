"""An adaptive grid: three levels of boxes, cut where counts are high."""

import math
from fractions import Fraction
from typing import Final

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.calibration import laplace_scale
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.intervals import noise_variance
from release.contract.models import CubeModel
from release.contract.parameters import (
    divide,
    refuse_small_parts,
    refuse_unknown,
    share,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.partition import PartitionModel
from release.cubes.strategies.partitions.grid import (
    GridLevel,
    measure_total,
    refine,
    refuse_shape,
    weights,
)

MAX_PIECES: Final = 2_000_000

_STEPS: Final = (
    ("coarse", Fraction(15, 98), 2.5),
    ("middle", Fraction(26, 98), 3.5),
    ("fine", Fraction(57, 98), 1.3),
)
"""Name, share of what the total leaves, worth; chosen on the data sets that
docs/releases-accuracy.md names for tuning."""


class AdaptiveGrid:
    """The total, then three levels, each cut by what the one before seems to hold.

    Unlike the grid of Qardaji, Yang and Li (2013) it pays for the total, has a level
    more and measures boxes that are not cut again at every level.

    Source: docs/proofs/agrid.md.
    """

    name = "agrid"

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the parts of the size, the total and each level."""
        refuse_unknown(parameters, ("total_share",))
        refuse_shape(domain)
        total = share(parameters, "total_share", "0.06")
        if 4 * total >= 3:  # noqa: PLR2004 - the size takes a third as much again
            message = "total_share is less than 0.75"
            raise ReleaseRefusedError(message)
        parts = divide(loss, weights(_steps(domain, total), total))
        refuse_small_parts(domain.bound, parts)
        return parts

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the total's error; the rest depends on how the counts lie."""
        parts = self.parts(domain, loss, parameters)
        return Expectation(
            cell_rmse=None,
            total_rmse=total_rmse(domain, parts[1]),
            words="Dense regions are cut finely and empty ones are not: sums over "
            "regions are far better than by cells, single cells are smoothed.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Measure level after level.

        Neighbouring relation: add or remove all rows of one unit.
        """
        total = share(parameters, "total_share", "0.06")
        so_far = measure_total(cube, meter, total)
        steps = _steps(cube.domain, total)
        for step in steps:
            so_far = refine(cube, meter, so_far, step)
        names = ("total", *(step.name for step in steps))
        return PartitionModel(
            cube.domain, names, so_far.levels, so_far.boxes, shrink=False
        )


def total_rmse(domain: CubeDomain, part: Part) -> float:
    """Return the error of one count that this part pays alone, at most."""
    scale = laplace_scale(Fraction(domain.bound), part.loss)
    return math.sqrt(noise_variance(scale))


def _steps(domain: CubeDomain, total: Fraction) -> tuple[GridLevel, ...]:
    most = max(4.0, 1.2 * domain.size ** (1 / 3))
    return tuple(
        GridLevel(
            name,
            of_rest * (1 - total * 4 / 3),
            worth,
            most if name != "fine" else float(domain.size),
            MAX_PIECES,
        )
        for name, of_rest, worth in _STEPS
    )
