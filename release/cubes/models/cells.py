"""A cube of noisy cells, each measured by itself."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechanisms.scales.noises import LAPLACE, Noise
from release.contract.domain import CubeDomain
from release.contract.intervals import noise_variance, sum_half_widths
from release.contract.models import (
    Estimates,
    FloatArray,
    IntArray,
    PublicFacts,
    Roll,
    Table,
)
from release.contract.rho.noise_facts import noise_facts, noise_in
from release.cubes.models.parts.rolling import check_roll, group_sizes, group_sums


@dataclass(frozen=True, slots=True)
class CellsModel:
    """One noisy count a cell; sums are unbiased, their error is of noise alone.

    Attributes:
        domain: What the cube ranges over.
        values: As drawn, C order; may be negative.
        scale: Of each draw.
        noise: Its kind.
    """

    domain: CubeDomain
    values: IntArray
    scale: float
    noise: Noise = LAPLACE

    @classmethod
    def rebuilt(
        cls,
        domain: CubeDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "CellsModel":
        """Return the model that wrote these facts and tables."""
        values = np.asarray(tables["cells"]["value"], dtype=np.int64)
        if len(values) != domain.size:
            raise ValueError(len(values))
        return cls(domain, values, float(str(facts["scale"])), noise_in(facts))

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return "cells"

    def facts(self) -> PublicFacts:
        """Return the scale of the noise."""
        return {"scale": self.scale, **noise_facts(self.noise)}

    def tables(self) -> Mapping[str, Table]:
        """Return one row a cell, C order."""
        return {"cells": {"value": self.values}}

    def estimates(self) -> FloatArray:
        """Return the values as drawn."""
        return self.values.astype(np.float64)

    def roll(self, roll: Roll) -> Estimates:
        """Return sums of cells."""
        shape = self.domain.shape
        check_roll(shape, roll)
        sizes = group_sizes(roll)
        sums = group_sums(self.values, shape, roll)
        return Estimates.around(
            values=sums.astype(np.float64),
            variances=sizes.astype(np.float64) * noise_variance(self.scale, self.noise),
            half_widths=sum_half_widths(sizes, self.scale, self.noise),
        )
