"""Error of a sum of cells by a fit of levels: from noise, and from cut boxes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray
from release.cubes.models.parts.boxes import Overlaps
from release.cubes.models.parts.levels import (
    Fit,
    Level,
    family_sizes,
    family_sums,
    level_variance,
    sample_variances,
)

CHOSEN: Final = 1.5
"""What errors are multiplied by where boxes were joined for the very counts that are
then fitted: such counts look more even than they are. Chosen by coverage."""

UNEVEN: Final = 1.0
"""The least relative variance that is allowed for inside what is measured together: as
much as if a whole box's count might lie on either side of a cut."""


def piece_spreads(levels: Sequence[Level], fit: Fit, volumes: FloatArray) -> FloatArray:
    """Return how unevenly each piece may be filled, guessed from noisy values alone.

    A question that takes the share a of a piece errs by this times a (1 - a). It is
    what pieces of one parent differ by beyond noise, taken to be as much again inside
    each (their own family's, and that of all families relative to their size), and the
    probability of counts themselves.
    """
    level = levels[-1]
    count = len(levels[-2]) if len(levels) > 1 else 1
    noise = level_variance(level)
    beyond = np.maximum(sample_variances(level, volumes, count) - noise, 0.0)
    sizes = family_sizes(level, count)
    values = fit.values[-1]
    squares = np.maximum(np.square(values) - fit.own_variances[-1], 0.0)
    cut = sizes > 1
    weights = np.where(cut, sizes, 0)
    mass = family_sums(level.parents, squares, count)[cut].sum()
    relative = np.clip((weights * beyond).sum() / max(mass, 1e-9), UNEVEN, 4.0)
    pooled = relative * np.maximum(np.square(values), fit.own_variances[-1])
    mean = family_sums(level.parents, volumes, count) / np.maximum(sizes, 1)
    large = np.square(volumes / mean[level.parents])
    own = np.where(cut[level.parents], beyond[level.parents] * large, pooled)
    return np.asarray((own + pooled) / 2 + np.maximum(values, 0.0))


def roll_variances(
    levels: Sequence[Level],
    fit: Fit,
    spreads: FloatArray,
    met: Overlaps,
    sizes: tuple[FloatArray, int],
) -> FloatArray:
    """Return the mean squared error that each group's sum is expected to have.

    From the last level upwards: what a family's weights add beyond a multiple of its
    parent is an error of its own, independent of the parent's.

    Args:
        levels: From coarse to fine.
        fit: Of those levels.
        spreads: Of the pieces of the last level.
        met: Which cells of which pieces each group counts.
        sizes: How many cells each piece has; how many groups there are.
    """
    volumes, groups = sizes
    node, group = met.boxes, met.groups
    weight = met.cells / volumes[node]
    errors = family_sums(group, spreads[node] * weight * (1 - weight), groups)
    for depth in reversed(range(1, len(levels))):
        family = _family(levels, fit, volumes, depth)
        keys = levels[depth].parents[node] * groups + group
        keys, place = np.unique(keys, return_inverse=True)
        own, up = keys // groups, keys % groups
        scale = family.scale[node]
        linear = family_sums(place, weight * family.shares[node], len(keys))
        square = family_sums(place, np.square(weight) * scale, len(keys))
        middle = family_sums(place, weight * scale, len(keys))
        extra = np.maximum(square - np.square(middle) / family.sizes[own], 0.0)
        errors += family_sums(up, family.bounded(own, extra), groups)
        node, group, weight = own, up, linear
    outer = np.square(weight) * fit.outer_variances[node]
    errors += family_sums(group, outer, groups)
    return errors * CHOSEN if fit.shrunk else errors


@dataclass(frozen=True, slots=True)
class _Family:
    """How the parts of one level follow their parents.

    Attributes:
        shares: Of each part in a change of its parent.
        scale: Error of each part alone.
        sizes: Sum of those errors over each parent's parts.
        uneven: Variance of how a parent's whole count may lie inside it; infinite where
            its parts are measured and not shrunk.
    """

    shares: FloatArray
    scale: FloatArray
    sizes: FloatArray
    uneven: FloatArray

    def bounded(self, own: IntArray, extra: FloatArray) -> FloatArray:
        """Return the error if the detail were noise around an uneven parent."""
        known = np.isfinite(self.uneven[own])
        share = extra / self.sizes[own]
        prior = share * np.where(known, self.uneven[own], 0.0)
        mixed = prior * extra / np.maximum(prior + extra, 1e-300)
        return np.where(known, mixed, extra)


def _family(
    levels: Sequence[Level], fit: Fit, volumes: FloatArray, depth: int
) -> _Family:
    parents, count = levels[depth].parents, len(levels[depth - 1])
    if not (fit.shrunk and depth == len(levels) - 1):
        errs = fit.own_variances[depth]
        sizes = family_sums(parents, errs, count)
        return _Family(errs / sizes[parents], errs, sizes, np.full(count, np.inf))
    shares = volumes / family_sums(parents, volumes, count)[parents]
    scale = np.full(len(parents), level_variance(levels[depth]))
    square = np.square(fit.values[-2])
    uneven = UNEVEN * np.maximum(square, fit.own_variances[depth - 1])
    return _Family(shares, scale, family_sums(parents, scale, count), uneven)
