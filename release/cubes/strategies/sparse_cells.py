"""Cells of a huge domain: those whose noisy count reaches a public threshold."""

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
    whole,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.sparse import SparseModel

MOST_CELLS: Final = 10**12
MOST_FALSE: Final = 10**6
FALSE_CELLS: Final = 10

KNOWN: Final = ("false_cells", "total_share")


class SparseCells:
    """Distributed as all noisy cells of which those under a threshold are left out.

    Source: Cormode, Procopiuc, Srivastava and Tran 2012; docs/proofs/sparse_cells.md.
    """

    name = "sparse_cells"

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the parts of the total, which bounds what is left out, and cells."""
        refuse_unknown(parameters, KNOWN)
        whole(parameters, "false_cells", FALSE_CELLS, MOST_FALSE)
        if domain.size > MOST_CELLS:
            message = f"sparse_cells takes up to {MOST_CELLS} cells"
            raise ReleaseRefusedError(message)
        total = share(parameters, "total_share", "0.05")
        parts = divide(loss, [("total", total), ("cells", 1 - total)])
        refuse_small_parts(domain.bound, parts)
        return parts

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the error of a cell that is kept, and of the noisy total."""
        total, cells = self.parts(domain, loss, parameters)
        bound = Fraction(domain.bound)
        scale = laplace_scale(bound, cells.loss)
        least = threshold(domain, scale, parameters)
        return Expectation(
            cell_rmse=math.sqrt(noise_variance(scale)),
            total_rmse=math.sqrt(noise_variance(laplace_scale(bound, total.loss))),
            words=f"Cells of less than about {least} are mostly left out.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Count all, then the cells. Neighbours: add or remove all rows of one unit."""
        domain = cube.domain
        total = meter.counts("total", cube.marginal(()), domain.bound)
        loss = meter.left("cells")
        least = threshold(
            domain, laplace_scale(Fraction(domain.bound), loss), parameters
        )
        noisy = meter.sparse_counts(
            "cells",
            cube.sparse(),
            size=domain.size,
            l1=domain.bound,
            threshold=least,
        )
        return SparseModel(
            domain=domain,
            cells=noisy.cells,
            values=noisy.values,
            scale=noisy.scale,
            threshold=least,
            total=int(total.values[0]),
            total_scale=total.scale,
        )


def threshold(domain: CubeDomain, scale: float, parameters: Parameters) -> int:
    """Return the least count that is kept, from public facts alone.

    An empty cell reaches t with probability a^t / (1 + a), a = exp(-1/scale); this is
    the least t at which no more empty cells than asked for are expected to.
    """
    false = whole(parameters, "false_cells", FALSE_CELLS, MOST_FALSE)
    odds = domain.size / (false * (1 + math.exp(-1 / scale)))
    return max(1, math.ceil(scale * math.log(max(1.0, odds))))
