"""The kept cells of a huge cube; what is left out counts as nothing, and is bounded."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from release.contract.domain import CubeDomain
from release.contract.intervals import (
    draw_half_width,
    noise_variance,
    sum_half_widths,
)
from release.contract.models import (
    Estimates,
    FloatArray,
    IntArray,
    PublicFacts,
    Roll,
    Table,
)
from release.contract.sealed_cube import MAX_DENSE_CELLS
from release.cubes.models.parts.rolling import check_roll, group_sizes


@dataclass(frozen=True, slots=True)
class SparseModel:
    """Cells whose noisy count reached a public threshold.

    Attributes:
        domain: What the cube ranges over.
        cells: Flat numbers of the kept cells, ascending.
        values: Their noisy counts, each at least the threshold.
        scale: Of each draw.
        threshold: Public.
        total: Noisy count of the whole cube.
        total_scale: Scale of the noise of ``total``, in units.

    Source: docs/proofs/sparse_cells.md.
    """

    domain: CubeDomain
    cells: IntArray
    values: IntArray
    scale: float
    threshold: int
    total: int
    total_scale: float

    @classmethod
    def rebuilt(
        cls,
        domain: CubeDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "SparseModel":
        """Return the model that wrote these facts and tables."""
        return cls(
            domain=domain,
            cells=np.asarray(tables["cells"]["cell"], np.int64),
            values=np.asarray(tables["cells"]["value"], np.int64),
            scale=float(str(facts["scale"])),
            threshold=int(str(facts["threshold"])),
            total=int(str(facts["total"])),
            total_scale=float(str(facts["total_scale"])),
        )

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return "sparse_cells"

    def facts(self) -> PublicFacts:
        """Return scales, the threshold and the noisy total."""
        return {
            "scale": self.scale,
            "threshold": self.threshold,
            "total": self.total,
            "total_scale": self.total_scale,
        }

    def tables(self) -> Mapping[str, Table]:
        """Return one row a kept cell, ascending."""
        return {"cells": {"cell": self.cells, "value": self.values}}

    def estimates(self) -> FloatArray:
        """Return every cell's estimate: 0 where it was not kept.

        Raises:
            ValueError: There are more cells than are ever held one by one.
        """
        if self.domain.size > MAX_DENSE_CELLS:
            raise ValueError(self.domain.size)
        cells = np.zeros(self.domain.size)
        cells[self.cells] = self.values
        return cells

    def roll(self, roll: Roll) -> Estimates:
        """Answer with sums of kept cells; widths hold what may have been left out."""
        check_roll(self.domain.shape, roll)
        groups = self._groups(roll)
        inside = groups >= 0
        count = int(np.prod(roll.groups, dtype=object))
        sums = np.bincount(groups[inside], self.values[inside], minlength=count)
        kept = np.bincount(groups[inside], minlength=count).astype(np.int64)
        sizes = group_sizes(roll)
        hidden, false = self._hidden(sizes - kept), self._false(sizes)
        noise = kept.astype(np.float64) * noise_variance(self.scale)
        return Estimates.around(
            values=sums.astype(np.float64),
            variances=noise + np.square(hidden + false),
            half_widths=sum_half_widths(kept, self.scale) + hidden + false,
        )

    def _groups(self, roll: Roll) -> IntArray:
        """Return the group of each kept cell."""
        places = np.unravel_index(self.cells, self.domain.shape)
        flat = np.zeros(len(self.cells), dtype=np.int64)
        out = np.zeros(len(self.cells), dtype=np.bool_)
        for place, codes, count in zip(places, roll.codes, roll.groups, strict=True):
            own = codes[place]
            flat = flat * count + own
            out |= own < 0
        if roll.mask is not None:
            out |= ~roll.mask.ravel()[self.cells]
        return np.where(out, -1, flat)

    def _hidden(self, left_out: IntArray) -> FloatArray:
        """Return the most that cells left out hold, but for one time in twenty.

        Each holds less than the threshold and one half-width of noise; all together
        hold what the total has beyond the kept cells, their half-widths, and what empty
        cells that passed the threshold pretend to hold.
        """
        each = self.threshold + math.floor(draw_half_width(self.scale))
        kept = np.array([len(self.values)])
        noise = float(np.floor(sum_half_widths(kept, self.scale)[0]))
        noise += math.floor(draw_half_width(self.total_scale))
        noise += float(self._false(np.array([self.domain.size]))[0])
        missing = max(0.0, self.total - float(self.values.sum()) + noise)
        return np.minimum(left_out.astype(np.float64) * each, missing)

    def _false(self, sizes: IntArray) -> FloatArray:
        """Return what empty cells that passed the threshold may add to a sum."""
        a = np.exp(-1 / self.scale)
        expected = sizes * (np.exp(-self.threshold / self.scale) / (1 + a))
        many = np.floor(expected + 2 * np.sqrt(expected))
        return np.asarray(many * (self.threshold + self.scale))
