"""Every cell by itself: the baseline, unbiased and without any choice to get wrong."""

import math

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.intervals import noise_variance
from release.contract.models import CubeModel
from release.contract.parameters import (
    refuse_large,
    refuse_too_small,
    refuse_unknown,
)
from release.contract.rho.distances import cells_l2_squared
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.cells import CellsModel
from release.cubes.models.foreseen import ForeseenCells


class Cells:
    """One vector draw over all cells: for D, or their L2 where losses are rho.

    Source: docs/proofs/cells.md.
    """

    name = "cells"

    def __init__(self, noise: Noise = LAPLACE) -> None:
        self.noise = noise

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the one part."""
        refuse_unknown(parameters, ())
        refuse_large(domain)
        squared = cells_l2_squared(domain)
        refuse_too_small(domain.bound, loss, self.noise, squared)
        return (Part("cells", loss),)

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what the noise alone does; the data have no part in it."""
        self.parts(domain, loss, parameters)
        cell = noise_variance(self.foreseen(domain, loss).scale, self.noise)
        return Expectation(
            cell_rmse=math.sqrt(cell),
            total_rmse=math.sqrt(cell * domain.size),
            words="A sum's error grows with the square root of its number of cells.",
        )

    def foreseen(self, domain: CubeDomain, loss: Loss) -> ForeseenCells:
        """Return how noisy all sums of cells will be: public facts decide it."""
        moved = moved_by(domain.bound, cells_l2_squared(domain))
        return ForeseenCells(domain, self.noise.scale(moved, loss), self.noise)

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Draw all cells. Neighbouring relation: add or remove all rows of one unit."""
        refuse_unknown(parameters, ())
        domain = cube.domain
        squared = cells_l2_squared(domain)
        noisy = meter.counts("cells", cube.cells(), domain.bound, l2_squared=squared)
        return CellsModel(domain, noisy.values, noisy.scale, noisy.noise)
