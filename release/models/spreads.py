"""How far a sum of cells strays from a fit of levels: noise, and cut boxes."""

from collections.abc import Sequence

import numpy as np

from release.models.boxes import Overlaps
from release.models.contract import FloatArray, IntArray
from release.models.levels import (
    Fit,
    Level,
    family_sizes,
    family_sums,
    level_variance,
    sample_variances,
)


def piece_spreads(levels: Sequence[Level], fit: Fit, volumes: FloatArray) -> FloatArray:
    """Return how unevenly each piece may be filled, guessed from noisy values alone.

    A question that takes the share a of a piece errs by this times a (1 - a). It is
    what pieces of one parent differ by beyond noise, taken to be as much again inside
    each (their own family's, and that of all families relative to their size), and the
    chance of counts themselves.
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
    relative = min((weights * beyond).sum() / max(mass, 1e-9), 4.0)
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
        parents = levels[depth].parents
        count = len(levels[depth - 1])
        scope = (parents, count)
        keys = parents[node] * groups + group
        if fit.shrunk and depth == len(levels) - 1:
            shares, size, scale = _detail(levels[depth], fit, volumes, scope)
        else:
            shares, size, scale = _least_squares(fit.own_variances[depth], scope)
        keys, place = np.unique(keys, return_inverse=True)
        own, up = keys // groups, keys % groups
        linear = family_sums(place, weight * shares[node], len(keys))
        square = family_sums(place, np.square(weight) * scale[node], len(keys))
        middle = family_sums(place, weight * scale[node], len(keys))
        extra = square - np.square(middle) / size[own]
        errors += family_sums(up, np.maximum(extra, 0.0), groups)
        node, group, weight = own, up, linear
    outer = np.square(weight) * fit.outer_variances[node]
    return errors + family_sums(group, outer, groups)


def _least_squares(
    errs: FloatArray, scope: tuple[IntArray, int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    parents, count = scope
    size = family_sums(parents, errs, count)
    return errs / size[parents], size, errs


def _detail(
    level: Level, fit: Fit, volumes: FloatArray, scope: tuple[IntArray, int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    parents, count = scope
    shares = volumes / family_sums(parents, volumes, count)[parents]
    scale = (fit.kept * level_variance(level))[parents]
    size = np.maximum(family_sums(parents, scale, count), 1e-12)
    return shares, size, scale
