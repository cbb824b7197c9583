"""Every cell by itself: the baseline, unbiased and without any choice to get wrong."""

import math
from fractions import Fraction

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.calibration import laplace_scale
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.intervals import noise_variance
from release.contract.models import CubeModel
from release.contract.parameters import (
    refuse_large,
    refuse_too_small,
    refuse_unknown,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.cells import CellsModel


class Cells:
    """One vector draw over all cells, with noise of scale D/epsilon in each.

    Source: docs/proofs/cells.md.
    """

    name = "cells"

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the one part."""
        refuse_unknown(parameters, ())
        refuse_large(domain)
        refuse_too_small(domain.bound, loss)
        return (Part("cells", loss),)

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what the noise alone does; the data have no part in it."""
        self.parts(domain, loss, parameters)
        cell = noise_variance(laplace_scale(Fraction(domain.bound), loss))
        return Expectation(
            cell_rmse=math.sqrt(cell),
            total_rmse=math.sqrt(cell * domain.size),
            words="A sum's error grows with the square root of its number of cells.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Draw all cells. Neighbouring relation: add or remove all rows of one unit."""
        refuse_unknown(parameters, ())
        noisy = meter.counts("cells", cube.cells(), cube.domain.bound)
        return CellsModel(cube.domain, noisy.values, noisy.scale)
