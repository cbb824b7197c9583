"""Levels of boxes that are cut the finer, the more they seem to hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.models import FloatArray, IntArray
from release.contract.parameters import refuse_large
from release.contract.sealed_cube import SealedCube
from release.cubes.models.parts.boxes import Boxes, cut_boxes, even_cuts
from release.cubes.models.parts.levels import Level, fit_levels

MAX_DIMENSIONS: Final = 10
"""A box sum reads 2 ** dimensions corners."""


@dataclass(frozen=True, slots=True)
class GridLevel:
    """One more level.

    Attributes:
        name: Of the level, and of the part that pays it.
        share: Of the release's loss.
        worth: How many noise scales of its own draws a piece should hold.
        most: Into how many pieces a box is cut at most.
        limit: How many pieces there are at most, roughly.
    """

    name: str
    share: Fraction
    worth: float
    most: float
    limit: int


@dataclass(frozen=True, slots=True)
class Refined:
    """Nested levels so far, all of boxes.

    Attributes:
        levels: From the total down.
        boxes: Of the last level.
        cuts: How the boxes of the level before were cut into these.
        share: Of the release's loss that paid the total.
        size: A noisy total that is used to foresee numbers of parts, for nothing else.
    """

    levels: tuple[Level, ...]
    boxes: Boxes
    cuts: IntArray
    share: Fraction
    size: int


def refuse_shape(domain: CubeDomain) -> None:
    """Refuse domains that boxes cannot be summed over.

    Raises:
        ReleaseRefusedError: Too many cells, or too many dimensions.
    """
    refuse_large(domain)
    if len(domain.dimensions) > MAX_DIMENSIONS:
        message = f"this strategy takes at most {MAX_DIMENSIONS} dimensions"
        raise ReleaseRefusedError(message)


def measure_total(cube: SealedCube, meter: Meter, share: Fraction) -> Refined:
    """Spend the parts ``size`` and ``total``, both on the count of the whole cube.

    Neighbouring relation: add or remove all rows of one unit; it moves the total by at
    most D.
    """
    size = meter.counts("size", cube.marginal(()), cube.domain.bound)
    noisy = meter.counts("total", cube.marginal(()), cube.domain.bound)
    whole = Boxes.whole(cube.domain.shape)
    level = Level(np.zeros(1, dtype=np.int64), noisy.values, noisy.scale, 1.0)
    first = int(size.values[0])
    return Refined((level,), whole, np.ones_like(whole.lower), share, first)


def refine(cube: SealedCube, meter: Meter, so_far: Refined, step: GridLevel) -> Refined:
    """Cut each box by what it seems to hold, and spend a part on the pieces.

    The cuts are a function of noisy counts and public facts; the pieces are disjoint,
    so that one unit moves their counts by at most D together.

    Neighbouring relation: add or remove all rows of one unit.
    """
    volumes = so_far.boxes.volumes.astype(np.float64)
    seems = fit_levels(so_far.levels, volumes, shrink=False).values[-1]
    scale = so_far.levels[0].scale * float(so_far.share / step.share)
    targets = _targets(seems, scale, step)
    cuts = even_cuts(so_far.boxes.lengths, targets, cube.domain.shape)
    pieces, parents = cut_boxes(so_far.boxes, cuts)
    sums = cube.box_sums(pieces.lower, pieces.upper)
    noisy = meter.counts(step.name, sums, cube.domain.bound)
    expected = min(_foreseen(so_far, scale, step), float(cube.domain.size))
    level = Level(parents, noisy.values, noisy.scale, expected)
    levels = (*so_far.levels, level)
    return Refined(levels, pieces, cuts, so_far.share, so_far.size)


def weights(steps: Sequence[GridLevel], total: Fraction) -> list[tuple[str, Fraction]]:
    """Return the shares of the size, a third of the total's, and of all levels."""
    return [
        ("size", total / 3),
        ("total", total),
        *((step.name, step.share) for step in steps),
    ]


def _foreseen(so_far: Refined, scale: float, step: GridLevel) -> float:
    """Return how many pieces the size alone predicts."""
    before = so_far.levels[-1].expected
    wanted = so_far.size / (step.worth * scale)
    return float(np.clip(wanted, before, min(before * step.most, step.limit)))


def _targets(seems: FloatArray, scale: float, step: GridLevel) -> FloatArray:
    wanted = np.clip(seems / (step.worth * scale), 1.0, step.most)
    lowered = wanted * min(1.0, step.limit / float(wanted.sum()))
    return np.asarray(np.maximum(1.0, lowered), dtype=np.float64)
