"""A cube of boxes with noisy totals, nested in levels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from release.contract.domain import CubeDomain
from release.contract.models import (
    Estimates,
    FloatArray,
    IntArray,
    PublicFacts,
    Roll,
    Table,
    Weighing,
)
from release.cubes.models.parts.boxes import (
    Boxes,
    Overlaps,
    box_of_cells,
    overlaps,
    spread,
)
from release.cubes.models.parts.ends import level_estimates
from release.cubes.models.parts.levels import Fit, Level, fit_levels
from release.cubes.models.parts.parts import Meeting, parts_of
from release.cubes.models.parts.rolling import cell_groups, check_roll, group_sums
from release.cubes.models.parts.spreads import piece_spreads, roll_variances


@dataclass(frozen=True)
class PartitionModel:
    """Noisy totals of nested boxes; inside the smallest ones counts are taken as even.

    Attributes:
        domain: What the cube ranges over.
        names: Of the levels, from coarse to fine.
        levels: Nested partitions with their draws; a partition may be a union of boxes
            only in levels before the last.
        pieces: The boxes of the last level; they cover the domain.
        shrink: Whether the last level is detail that is kept only as far as it is more
            than noise.
    """

    domain: CubeDomain
    names: tuple[str, ...]
    levels: tuple[Level, ...]
    pieces: Boxes
    shrink: bool

    @classmethod
    def rebuilt(
        cls,
        domain: CubeDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "PartitionModel":
        """Return the model that wrote these facts and tables."""
        described = cast("list[dict[str, object]]", facts["levels"])
        names = tuple(str(level["name"]) for level in described)
        levels = tuple(
            Level(
                np.asarray(tables[name]["parent"], dtype=np.int64),
                np.asarray(tables[name]["value"], dtype=np.int64),
                float(str(level["scale"])),
                float(str(level["expected"])),
            )
            for name, level in zip(names, described, strict=True)
        )
        last, axes = tables[names[-1]], range(len(domain.dimensions))
        pieces = Boxes(
            np.stack([last[f"from_{axis}"] for axis in axes], axis=1).astype(np.int64),
            np.stack([last[f"until_{axis}"] for axis in axes], axis=1).astype(np.int64),
        )
        if pieces.volumes.sum() != domain.size:
            message = "the pieces do not cover the domain"
            raise ValueError(message)
        return cls(domain, names, levels, pieces, facts["shrink"] is True)

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return "partition"

    def facts(self) -> PublicFacts:
        """Return the levels' names and scales, and how detail is treated."""
        return {
            "levels": [
                {"name": name, "scale": level.scale, "expected": level.expected}
                for name, level in zip(self.names, self.levels, strict=True)
            ],
            "shrink": self.shrink,
        }

    def tables(self) -> Mapping[str, Table]:
        """Return one file a level; the last one says where its boxes lie.

        ``parent`` is the row in the level before; ``from_i`` and ``until_i`` are places
        on the i-th dimension, ``until_i`` not included.
        """
        files: dict[str, dict[str, IntArray]] = {
            name: {"parent": level.parents, "value": level.values}
            for name, level in zip(self.names, self.levels, strict=True)
        }
        last = files[self.names[-1]]
        for axis in range(len(self.domain.dimensions)):
            last[f"from_{axis}"] = self.pieces.lower[:, axis]
            last[f"until_{axis}"] = self.pieces.upper[:, axis]
        return files

    @cached_property
    def fit(self) -> Fit:
        """What all levels together say of each box."""
        volumes = self.pieces.volumes.astype(np.float64)
        return fit_levels(self.levels, volumes, shrink=self.shrink)

    def prepare(self) -> None:
        """Work out the fit, and what each piece and cell has of it."""
        for found in (self.fit, self._cells, self._volumes, self._spreads):
            del found

    def estimates(self) -> FloatArray:
        """Return each cell's share of the estimate of its box."""
        return self._cells

    def roll(self, roll: Roll) -> Estimates:
        """Return sums of cells, with the error of noise and of cut boxes."""
        shape = self.domain.shape
        check_roll(shape, roll)
        values = np.asarray(group_sums(self._cells, shape, roll), dtype=np.float64)
        met = self._met(roll)
        sizes = self._volumes, len(values)
        variances = roll_variances(self.levels, self.fit, self._spreads, met, sizes)
        parts = parts_of(met, self._volumes, len(values))
        shown = values, variances
        return level_estimates(self.levels, self.fit, parts, self._volumes, shown)

    @cached_property
    def _cells(self) -> FloatArray:
        return spread(self.domain.shape, self.pieces, self.fit.values[-1])

    @cached_property
    def _volumes(self) -> FloatArray:
        return self.pieces.volumes.astype(np.float64)

    @cached_property
    def _spreads(self) -> FloatArray:
        return piece_spreads(self.levels, self.fit, self._volumes)

    def weighing(self, roll: Roll, sums: IntArray, count: int) -> Weighing:
        """Return what bounds weighted sums: noise as it adds up, and cut boxes."""
        check_roll(self.domain.shape, roll)
        meeting = Meeting.of(self._met(roll), self._volumes, sums, count)

        def bounds(weights: FloatArray, values: FloatArray) -> Estimates:
            parts = meeting.parts(weights)
            shown = values, np.zeros(count)
            return level_estimates(self.levels, self.fit, parts, self._volumes, shown)

        return Weighing(len(meeting.groups), bounds)

    def _met(self, roll: Roll) -> Overlaps:
        return self._masked(roll) if roll.mask is not None else self._product(roll)

    def _product(self, roll: Roll) -> Overlaps:
        return overlaps(self.pieces, roll.codes, roll.groups)

    def _masked(self, roll: Roll) -> Overlaps:
        groups = cell_groups(roll)
        kept = np.flatnonzero(groups >= 0)
        count = int(np.prod(roll.groups))
        owners = box_of_cells(self.domain.shape, self.pieces)
        keys, cells = np.unique(owners[kept] * count + groups[kept], return_counts=True)
        return Overlaps(keys // count, keys % count, cells.astype(np.int64))
