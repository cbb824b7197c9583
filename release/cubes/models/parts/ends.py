"""Ends of sums of cells over nested levels: sums of whole parts, which are measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from release.contract.intervals import WEIGHTED_QUANTILE, weighted_half_widths
from release.contract.models import Estimates, FloatArray, IntArray
from release.cubes.models.parts.levels import (
    Fit,
    Level,
    family_sums,
    level_variance,
)
from release.cubes.models.parts.parts import Noisy, Parts, bounded
from release.cubes.models.parts.spreads import CHOSEN

_Sets = Mapping[int, Parts]
"""Disjoint parts by the number of their level."""

_ENDS = ("least", "evenly", "most")


def level_estimates(
    levels: Sequence[Level],
    fit: Fit,
    parts: Parts,
    volumes: FloatArray,
    shown: tuple[FloatArray, FloatArray],
) -> Estimates:
    """Return estimates with ends that hold wherever in its box a count may lie.

    Where pieces are but noisy detail of the level before (``shrink``), and that level's
    part holds less than the detail's noise, the part stands for its pieces.

    Args:
        levels: From coarse to fine.
        fit: Of those levels.
        parts: What each group takes of the last level's pieces.
        volumes: How many cells each piece has.
        shown: Estimates, and their mean squared errors.

    Source: docs/proofs/agrid.md.
    """
    last, groups = len(levels) - 1, len(shown[0])
    loads = parts.loads(groups)
    if len(levels[0]) == 1:  # the total: later levels are cut by what it and they hold
        least, even, most = (_fresh_sums(levels, parts, end, loads) for end in _ENDS)
        return bounded(shown, (least, even, most))
    sets: dict[int, Parts] = {last: parts}
    if fit.shrunk:
        joined, of_joined = _joined(levels, fit, parts, volumes)
        sets = {last: parts.take(np.flatnonzero(~of_joined)), last - 1: joined}
    least, even, most = (_sums(levels, fit, sets, (end, loads)) for end in _ENDS)
    return bounded(shown, (least, even, most))


def _fresh_sums(
    levels: Sequence[Level], parts: Parts, end: str, loads: FloatArray
) -> Noisy:
    """Return weighted sums of pieces by the draws that chose no piece.

    A box whose draw is high is cut the finer, so the draws of earlier levels, and a fit
    of them, lean: boxes that were cut finely seem to hold too much, others too little,
    and over many boxes that is more than noise. The last level's draws are new, given
    its pieces. The whole is known better: what they add up to beyond it is taken off
    them, by weights that were foreseen, as in ``fit_levels``.
    """
    last, groups = levels[-1], len(loads)
    variance, pieces = level_variance(last), len(last)
    taken = getattr(parts, end)
    drawn = last.values[parts.nodes].astype(np.float64)
    values = family_sums(parts.groups, drawn * taken, groups)
    linear = family_sums(parts.groups, taken, groups)
    square = family_sums(parts.groups, np.square(taken), groups)
    whole, error, foreseen = _total(levels[:-1])
    trust = last.expected * variance / (last.expected * variance + foreseen)
    of_gap = trust * linear / pieces
    gap = whole - float(last.values.sum())
    left = variance * (square - 2 * of_gap * linear)
    left += np.square(of_gap) * (error + pieces * variance)
    left = np.maximum(left, 0.0)
    return Noisy(values + of_gap * gap, weighted_half_widths(left, loads), left)


def _total(levels: Sequence[Level]) -> tuple[float, float, float]:
    """Return what levels say of the whole, its variance, and the one foreseen."""
    variances = np.array([level_variance(level) for level in levels])
    weights = 1 / (np.array([level.expected for level in levels]) * variances)
    foreseen = 1 / float(weights.sum())
    weights *= foreseen
    sums = np.array([float(level.values.sum()) for level in levels])
    counts = np.array([len(level) for level in levels])
    error = float(np.square(weights) @ (counts * variances))
    return float(weights @ sums), error, foreseen


def _joined(
    levels: Sequence[Level], fit: Fit, parts: Parts, volumes: FloatArray
) -> tuple[Parts, NDArray[np.bool_]]:
    """Return parts of the last level but one that bound better than their pieces.

    Returns:
        Those parts; and of each entry of ``parts`` whether it lies in one of them.
    """
    parents, count = levels[-1].parents, len(levels[-2])
    groups = int(parts.groups.max(initial=0)) + 1
    keys = parents[parts.nodes] * groups + parts.groups
    keys, place = np.unique(keys, return_inverse=True)
    own = keys // groups
    errors = fit.own_variances[-1]
    all_errors = family_sums(parents, errors, count)[own]
    own_errors, size = errors[parts.nodes], len(keys)
    square = family_sums(place, np.square(parts.evenly) * own_errors, size)
    linear = family_sums(place, parts.evenly * own_errors, size)
    left = np.maximum(square - np.square(linear) / all_errors, 0.0)
    joined = _gathered(parts, (own, keys % groups, place), (parents, volumes))
    reach = np.maximum(joined.evenly - joined.least, joined.most - joined.evenly)
    hidden = np.maximum(fit.values[-2][own], 0.0) * reach
    better = (reach > 0) & (hidden < WEIGHTED_QUANTILE * np.sqrt(CHOSEN * left))
    return joined.take(np.flatnonzero(better)), better[place]


def _gathered(
    parts: Parts,
    into: tuple[IntArray, IntArray, IntArray],
    pieces: tuple[IntArray, FloatArray],
) -> Parts:
    """Return what groups take of parents, from what they take of their pieces."""
    own, groups, place = into
    parents, volumes = pieces
    all_cells = family_sums(parents, volumes, int(parents.max(initial=0)) + 1)[own]
    cells = family_sums(place, volumes[parts.nodes], len(own))
    weighed = family_sums(place, parts.evenly * volumes[parts.nodes], len(own))
    least, most = np.full(len(own), np.inf), np.full(len(own), -np.inf)
    np.minimum.at(least, place, parts.least)
    np.maximum.at(most, place, parts.most)
    least = np.where(cells < all_cells, np.minimum(least, 0.0), least)
    most = np.where(cells < all_cells, np.maximum(most, 0.0), most)
    return Parts(own, groups, weighed / all_cells, least, most)


def _sums(
    levels: Sequence[Level], fit: Fit, sets: _Sets, asked: tuple[str, FloatArray]
) -> Noisy:
    """Return weighted sums of whole parts, and 95 % half-widths of their noise."""
    end, loads = asked
    groups = len(loads)
    values, errors = np.zeros(groups), np.zeros(groups)
    nobody = np.zeros(0, dtype=np.int64)
    nodes, owners, weights = nobody, nobody, np.zeros(0)
    for depth in reversed(range(len(levels))):
        if depth in sets:
            own, taken = sets[depth], getattr(sets[depth], end)
            held = fit.straight(depth)[own.nodes] * taken
            values += family_sums(own.groups, held, groups)
            nodes = np.concatenate([nodes, own.nodes])
            owners = np.concatenate([owners, own.groups])
            weights = np.concatenate([weights, taken])
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
    errors *= CHOSEN if fit.shrunk else 1.0
    return Noisy(values, weighted_half_widths(errors, loads), errors)
