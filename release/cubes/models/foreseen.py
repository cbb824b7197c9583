"""A cube of noisy cells before it is measured: how noisy its sums will be."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechanisms.scales.noises import LAPLACE, Noise
from release.contract.domain import CubeDomain
from release.contract.intervals import noise_variance, sum_half_widths
from release.contract.models import Estimates, FloatArray, PublicFacts, Roll, Table
from release.cubes.models.parts.rolling import check_roll, group_sizes


@dataclass(frozen=True, slots=True)
class ForeseenCells:
    """What a model of cells will be off by; each estimate is 0, and is never shown.

    No row is counted for it and no noise is drawn: it is public facts alone, and is
    written to no file.

    Attributes:
        domain: What the cube will range over.
        scale: That each draw will have.
        noise: Its kind.
    """

    domain: CubeDomain
    scale: float
    noise: Noise = LAPLACE

    @property
    def kind(self) -> str:
        """The kind of the model that is foreseen."""
        return "cells"

    def facts(self) -> PublicFacts:
        """Return nothing: it is in no manifest."""
        return {}

    def tables(self) -> Mapping[str, Table]:
        """Return nothing: it is in no file."""
        return {}

    def estimates(self) -> FloatArray:
        """Return 0 for every cell."""
        return np.zeros(self.domain.size)

    def roll(self, roll: Roll) -> Estimates:
        """Return how far sums of cells will be off, as ``CellsModel`` will tell."""
        check_roll(self.domain.shape, roll)
        sizes = group_sizes(roll)
        return Estimates.around(
            values=np.zeros(len(sizes)),
            variances=sizes.astype(np.float64) * noise_variance(self.scale, self.noise),
            half_widths=sum_half_widths(sizes, self.scale, self.noise),
        )
