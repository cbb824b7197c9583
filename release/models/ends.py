"""Between which ends a sum of cells lies: sums of whole parts, which are measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from release.models.boxes import Overlaps
from release.models.contract import FloatArray, IntArray
from release.models.intervals import WEIGHTED_QUANTILE
from release.models.levels import Fit, Level, family_sums
from release.models.spreads import CHOSEN


@dataclass(frozen=True, slots=True)
class Ends:
    """95 % bounds, one a group.

    Attributes:
        low: What lies wholly inside a group, less its error.
        high: What a group meets at all, and its error.
    """

    low: FloatArray
    high: FloatArray

    def half_widths(self, values: FloatArray) -> FloatArray:
        """Return how far the farther end is from each value."""
        return np.maximum(values - self.low, self.high - values)


@dataclass(frozen=True, slots=True)
class _Whole:
    """Whole parts of one level, each in a group; no pair stands there twice."""

    nodes: IntArray
    groups: IntArray

    def take(self, kept: IntArray) -> "_Whole":
        return _Whole(self.nodes[kept], self.groups[kept])


_Sets = Mapping[int, _Whole]
"""By the number of the level."""


def sum_ends(
    levels: Sequence[Level],
    fit: Fit,
    met: Overlaps,
    sizes: tuple[FloatArray, int],
) -> Ends:
    """Return ends that hold wherever in its box a count may lie.

    Counts are not negative, so a sum of cells is at least that of the pieces that lie
    wholly inside, and at most that of the pieces that it meets. Both are sums of
    measured parts, with errors of noise alone. Where pieces are but noisy detail of the
    level before (``shrink``), and that level's part holds less than the detail's noise,
    the part stands for its pieces.

    Args:
        levels: From coarse to fine.
        fit: Of those levels.
        met: Which cells of which pieces each group counts.
        sizes: How many cells each piece has; how many groups there are.

    Source: docs/proofs/agrid.md.
    """
    volumes, groups = sizes
    last = len(levels) - 1
    inside = np.flatnonzero(met.cells == volumes[met.boxes])
    every = _Whole(met.boxes, met.groups)
    inner: _Sets = {last: every.take(inside)}
    outer: _Sets = {last: every}
    if fit.shrunk:
        joined, of_joined = _joined(levels, fit, met, sizes)
        inner = {last: every.take(inside[~of_joined[inside]])}
        outer = {last: every.take(np.flatnonzero(~of_joined)), last - 1: joined}
    least, least_error = _sums(levels, fit, inner, groups)
    most, most_error = _sums(levels, fit, outer, groups)
    return Ends(least - least_error, np.maximum(most, least) + most_error)


def _joined(
    levels: Sequence[Level],
    fit: Fit,
    met: Overlaps,
    sizes: tuple[FloatArray, int],
) -> tuple[_Whole, NDArray[np.bool_]]:
    """Return parts of the last level but one that bound better than their pieces.

    Returns:
        Those parts; and of each entry of ``met`` whether it lies in one of them.
    """
    volumes, groups = sizes
    parents, count = levels[-1].parents, len(levels[-2])
    keys = parents[met.boxes] * groups + met.groups
    keys, place = np.unique(keys, return_inverse=True)
    own, up = keys // groups, keys % groups
    errors = fit.own_variances[-1]
    all_errors = family_sums(parents, errors, count)[own]
    errs = family_sums(place, errors[met.boxes], len(keys))
    detail = np.sqrt(CHOSEN * np.maximum(errs - np.square(errs) / all_errors, 0.0))
    cells = family_sums(place, met.cells.astype(np.float64), len(keys))
    share = cells / family_sums(parents, volumes, count)[own]
    hidden = np.maximum(fit.values[-2][own], 0.0) * np.maximum(share, 1 - share)
    better = (share < 1) & (hidden < WEIGHTED_QUANTILE * detail)
    return _Whole(own[better], up[better]), better[place]


def _sums(
    levels: Sequence[Level], fit: Fit, parts: _Sets, groups: int
) -> tuple[FloatArray, FloatArray]:
    """Return sums of whole parts, and 95 % half-widths of their noise."""
    values, errors = np.zeros(groups), np.zeros(groups)
    nobody = np.zeros(0, dtype=np.int64)
    nodes, owners, weights = nobody, nobody, np.zeros(0)
    for depth in reversed(range(len(levels))):
        own = parts.get(depth, _Whole(nobody, nobody))
        values += family_sums(own.groups, fit.straight(depth)[own.nodes], groups)
        nodes = np.concatenate([nodes, own.nodes])
        owners = np.concatenate([owners, own.groups])
        weights = np.concatenate([weights, np.ones(len(own.nodes))])
        if depth == 0:
            break
        parents, errs = levels[depth].parents, fit.own_variances[depth]
        keys, place = np.unique(parents[nodes] * groups + owners, return_inverse=True)
        up, owners = keys // groups, keys % groups
        whole = family_sums(parents, errs, len(levels[depth - 1]))[up]
        square = family_sums(place, np.square(weights) * errs[nodes], len(keys))
        linear = family_sums(place, weights * errs[nodes], len(keys))
        left = np.maximum(square - np.square(linear) / whole, 0.0)
        errors += family_sums(owners, left, groups)
        nodes, weights = up, linear / whole
    outer = np.square(weights) * fit.outer_variances[nodes]
    errors += family_sums(owners, outer, groups)
    chosen = CHOSEN if fit.shrunk else 1.0
    return values, WEIGHTED_QUANTILE * np.sqrt(chosen * errors)
