"""DPCube: noisy cells, a kd partition of them, fresh counts of its boxes."""

from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter, Part
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.models import CubeModel, FloatArray, IntArray
from release.contract.parameters import (
    divide,
    not_negative,
    refuse_small_parts,
    refuse_unknown,
    share,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.partition import PartitionModel
from release.cubes.models.parts.boxes import Boxes
from release.cubes.models.parts.levels import Level, level_variance
from release.cubes.strategies.partitions.agrid import total_rmse
from release.cubes.strategies.partitions.grid import (
    GridLevel,
    Refined,
    measure_total,
    refine,
    refuse_shape,
)
from release.cubes.strategies.partitions.kd import (
    KdRule,
    information_gain,
    partition,
    squared_error,
)

MAX_PIECES: Final = 500_000

_TOTAL, _BLOCKS, _CELLS = Fraction(3, 60), Fraction(19, 60), Fraction(37, 60)
"""How phase 1 is divided; chosen on the data that docs/releases-accuracy.md names."""

_RULES: Final = {
    "squared_error": (squared_error, 3.0),
    "information_gain": (information_gain, 0.05),
}
"""By name: the rule, and its threshold where none is asked for."""


class DPCube:
    """Two phases in sequence, with parts that sum to the whole.

    Phase 1 measures the total, a grid of blocks and, inside each block, cells: single
    ones where they would hold more than noise, else small boxes of them. A kd-tree over
    the noisy cells joins those of a block that look even; phase 2 measures these
    partitions afresh. All counts together are fitted by least squares; what cells say
    within a partition is kept as far as it is more than noise.

    Source: Xiao, Xiong, Fan and Goryczka 2014 (DPCube); docs/proofs/dpcube.md.
    """

    name = "dpcube"

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return phase 1's four parts and phase 2's one."""
        refuse_unknown(parameters, ("split", "split_rule", "gain_threshold"))
        refuse_shape(domain)
        _rule(parameters)
        phase_1 = share(parameters, "split", "0.6")
        weights = [
            ("size", phase_1 * _TOTAL / 3),
            ("total", phase_1 * _TOTAL),
            ("blocks", phase_1 * _BLOCKS),
            ("cells", phase_1 * _CELLS),
            ("partitions", 1 - phase_1),
        ]
        parts = divide(loss, weights)
        refuse_small_parts(domain.bound, parts)
        return parts

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the total's error; the rest depends on how even the counts are."""
        parts = self.parts(domain, loss, parameters)
        return Expectation(
            cell_rmse=None,
            total_rmse=total_rmse(domain, parts[1]),
            words="Regions that look even are counted as one: sums over regions are "
            "far better than by cells, single cells are smoothed.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Measure cells, join them, measure what was joined.

        Neighbouring relation: add or remove all rows of one unit.
        """
        rule = _rule(parameters)
        cells = _phase_1(cube, meter, share(parameters, "split", "0.6"))
        labels = _join(cells, rule)
        order = np.argsort(labels, kind="stable")
        pieces, joined = cells.boxes.take(order), labels[order]
        bounds = _bounds(pieces, joined)
        sums = cube.box_sums(bounds.lower, bounds.upper)
        noisy = meter.counts("partitions", sums, cube.domain.bound)
        first = np.searchsorted(joined, np.arange(len(bounds)))
        total, blocks, fine = cells.levels
        owners = fine.parents[order][first]
        levels = (
            total,
            blocks,
            Level(owners, noisy.values, noisy.scale, _foreseen(fine)),
            Level(joined, fine.values[order], fine.scale, fine.expected),
        )
        names = ("total", "blocks", "partitions", "cells")
        return PartitionModel(cube.domain, names, levels, pieces, shrink=True)


def _rule(parameters: Parameters) -> KdRule:
    name = parameters.get("split_rule", "squared_error")
    if not isinstance(name, str) or name not in _RULES:
        message = f"split_rule is one of {', '.join(_RULES)}"
        raise ReleaseRefusedError(message)
    make, usual = _RULES[name]
    return make(not_negative(parameters, "gain_threshold", usual))


def _phase_1(cube: SealedCube, meter: Meter, phase_1: Fraction) -> Refined:
    size = cube.domain.size
    blocks = GridLevel(
        "blocks", phase_1 * _BLOCKS, 3.0, max(4.0, 1.5 * size**0.5), size
    )
    cells = GridLevel("cells", phase_1 * _CELLS, 2.4, float(size), MAX_PIECES)
    so_far = measure_total(cube, meter, phase_1 * _TOTAL)
    return refine(cube, meter, refine(cube, meter, so_far, blocks), cells)


def _join(cells: Refined, rule: KdRule) -> IntArray:
    """Return the partition of each cell: a function of noisy cells and public facts."""
    fine = cells.levels[-1]
    values: FloatArray = fine.values.astype(np.float64)
    variance = level_variance(fine)
    labels = np.zeros(len(values), dtype=np.int64)
    first = found = 0
    for cuts in cells.cuts:
        last = first + int(np.prod(cuts))
        block = values[first:last].reshape(tuple(cuts))
        labels[first:last] = found + partition(block, variance, rule)
        found = int(labels[first:last].max()) + 1
        first = last
    return labels


def _foreseen(fine: Level) -> float:
    """Return how many partitions the size alone predicts: half the cells."""
    return max(1.0, fine.expected / 2)


def _bounds(pieces: Boxes, joined: IntArray) -> Boxes:
    """Return the least box around each partition; the pieces stand in its order."""
    first = np.searchsorted(joined, np.arange(joined[-1] + 1))
    return Boxes(
        np.minimum.reduceat(pieces.lower, first, axis=0),
        np.maximum.reduceat(pieces.upper, first, axis=0),
    )
