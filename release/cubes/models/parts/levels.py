"""Nested levels of noisy counts: their least-squares fit, and what it errs by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from release.contract.intervals import noise_variance
from release.contract.models import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Level:
    """A partition of the cells, each part with a noisy count of its own.

    Attributes:
        parents: The part of the level before that each part lies in; all 0 in the
            first level. Ascending: parts of one parent stand together.
        values: As drawn.
        scale: Of each draw.
        expected: How many parts were foreseen by a draw that is used for nothing else;
            1.0 for the total.
    """

    parents: IntArray
    values: IntArray
    scale: float
    expected: float

    def __len__(self) -> int:
        """Return how many parts there are."""
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Fit:
    """What all levels together say.

    Attributes:
        values: One array a level: each part's estimate.
        own_variances: One array a level: error of what a part and those inside it say,
            without those around it.
        outer_variances: Of the first level's estimates.
        kept: For each part of the level before the last, the share of its pieces'
            detail that is kept; 1 everywhere unless the detail is shrunk.
        shrunk: Whether it is.
        detailed: Of the last level, by least squares alone, with all detail.
    """

    values: tuple[FloatArray, ...]
    own_variances: tuple[FloatArray, ...]
    outer_variances: FloatArray
    kept: FloatArray
    shrunk: bool
    detailed: FloatArray

    def straight(self, depth: int) -> FloatArray:
        """Return a level's least-squares estimates, nothing shrunk."""
        return self.detailed if depth == len(self.values) - 1 else self.values[depth]


def family_sums(parents: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Return the sum over each parent's parts."""
    return np.asarray(np.bincount(parents, values, count), dtype=np.float64)


def fit_levels(levels: Sequence[Level], volumes: FloatArray, *, shrink: bool) -> Fit:
    """Return least-squares estimates under the nesting of all levels.

    Upwards each part takes the inverse-variance mean of its own draw and of the sum of
    its parts; downwards each family is moved to add up to its parent. With ``shrink``
    the last level keeps only the share of its deviations (from an even spread over its
    parent) that is more than noise, as estimated from their sample variance.

    Where the first level is the total, it is a mean of all levels' sums, weighed by the
    numbers of parts that were foreseen: weights that followed the actual numbers would
    depend on the very noise that they weigh, and bias it.

    Args:
        levels: From coarse to fine, at least one.
        volumes: How many cells each part of the last level has.
        shrink: Whether the last level is detail of the level before.
    """
    says, errs = _upwards(levels)
    first, outer = _outermost(levels, says[0], errs[0])
    values, detailed = [first], first
    kept = np.ones(len(levels[-2]) if len(levels) > 1 else 0)
    for depth in range(1, len(levels)):
        parents, parent_values = levels[depth].parents, values[-1]
        count = len(parent_values)
        gap = parent_values - family_sums(parents, says[depth], count)
        rate = gap / family_sums(parents, errs[depth], count)
        detailed = says[depth] + errs[depth] * rate[parents]
        values.append(detailed)
    if shrink:
        kept, values[-1] = _shrunk(levels[-1], volumes, values[-2])
    return Fit(tuple(values), tuple(errs), outer, kept, shrink, detailed)


def sample_variances(level: Level, volumes: FloatArray, count: int) -> FloatArray:
    """Return, for each family, the variance of its draws about an even spread.

    0 where a family has one part alone. Noise included.
    """
    deviations = _deviations(level, volumes, count)
    squares = family_sums(level.parents, np.square(deviations), count)
    return squares / np.maximum(family_sizes(level, count) - 1, 1)


def family_sizes(level: Level, count: int) -> IntArray:
    """Return how many parts each parent has."""
    return np.bincount(level.parents, minlength=count)


def level_variance(level: Level) -> float:
    """Return the noise variance of each draw; tiny, not 0, where there is no noise."""
    return max(noise_variance(level.scale), 1e-9)


def _upwards(levels: Sequence[Level]) -> tuple[list[FloatArray], list[FloatArray]]:
    says: list[FloatArray] = []
    errs: list[FloatArray] = []
    for depth in reversed(range(len(levels))):
        level, variance = levels[depth], level_variance(levels[depth])
        value = level.values.astype(np.float64)
        error = np.full(len(level), variance)
        if says:
            parents = levels[depth + 1].parents
            inner = family_sums(parents, says[0], len(level))
            inner_error = family_sums(parents, errs[0], len(level))
            trust = inner_error / (inner_error + variance)
            value = trust * value + (1 - trust) * inner
            error = trust * variance
        says.insert(0, value)
        errs.insert(0, error)
    return says, errs


def _outermost(
    levels: Sequence[Level], says: FloatArray, errs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the first level's estimates and their variances."""
    if len(levels[0]) > 1:
        return says, errs
    variances = np.array([level_variance(level) for level in levels])
    expected = np.array([level.expected for level in levels])
    weights = 1 / (expected * variances)
    weights /= weights.sum()
    sums = np.array([float(level.values.sum()) for level in levels])
    parts = np.array([len(level) for level in levels])
    error = np.square(weights) * parts * variances
    return np.array([weights @ sums]), np.array([error.sum()])


def _deviations(level: Level, volumes: FloatArray, count: int) -> FloatArray:
    values = level.values.astype(np.float64)
    density = family_sums(level.parents, values, count) / family_sums(
        level.parents, volumes, count
    )
    return values - density[level.parents] * volumes


def _shrunk(
    level: Level, volumes: FloatArray, parent_values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    count = len(parent_values)
    observed = np.maximum(sample_variances(level, volumes, count), 1e-9)
    kept = np.maximum(0.0, 1.0 - level_variance(level) / observed)
    density = parent_values / family_sums(level.parents, volumes, count)
    detail = kept[level.parents] * _deviations(level, volumes, count)
    return kept, density[level.parents] * volumes + detail
