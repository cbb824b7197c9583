"""Cuts of a grid of noisy counts into boxes that look even: a kd-tree."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray

SPREAD_SIGMAS: Final = 0.7
"""Standard deviations by which a box's sum of squares may exceed the noise's own before
it is cut."""

PEAK_SURPLUS: Final = 3.0
"""How far, in noise scales, one cell may stand out beyond ln(cells)."""

_FOURTH_MOMENT: Final = 5.0
"""Variance of a squared Laplace draw, in squared variances: 24/4 - 1."""

Box = tuple[tuple[int, int], ...]
"""A box of cells: for each axis, its first cell and the cell after its last."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a box is best cut.

    Attributes:
        axis: Across which axis.
        place: How many places its first part has there.
        gain: What the cut is worth, in the rule's own measure.
    """

    axis: int
    place: int
    gain: float


@dataclass(frozen=True, slots=True)
class KdRule:
    """When and where to cut.

    Attributes:
        best: Finds the best cut of a box of noisy counts.
        goes_on: Whether a box is cut, given its counts, that cut's gain, and the
            variance of the noise.
    """

    best: Callable[[FloatArray], Cut]
    goes_on: Callable[[FloatArray, float, float], bool]


def squared_error(threshold: float) -> KdRule:
    """Return the rule that lowers the sum of squares about the mean the most.

    A box is cut while the best cut gains more than ``threshold`` noise variances, or
    its cells vary or stand out more than noise does.
    """

    def goes_on(box: FloatArray, gain: float, variance: float) -> bool:
        if gain > threshold * variance:
            return True
        away = box - box.mean()
        squares, cells = float(np.square(away).sum()), box.size
        noise = cells + SPREAD_SIGMAS * math.sqrt(_FOURTH_MOMENT * cells)
        peak = math.sqrt(variance / 2) * (math.log(cells) + PEAK_SURPLUS)
        return squares > variance * noise or float(np.abs(away).max()) > peak

    return KdRule(lambda box: _best_cut(box, _square_gains), goes_on)


def information_gain(threshold: float) -> KdRule:
    """Return HIDE's rule: the cut of largest information gain, in nats.

    With counts as weights and negative ones as 0, the gain of a cut is the entropy of
    how it divides the mass. A box is cut while the gain exceeds ``threshold`` and its
    mass, less what clipping makes of noise alone, exceeds its noise.
    """

    def goes_on(box: FloatArray, gain: float, variance: float) -> bool:
        clipped = box.size * math.sqrt(variance / 8)  # mean of max(noise, 0) is b / 2
        mass = float(np.maximum(box, 0.0).sum()) - clipped
        return gain > threshold and mass > math.sqrt(box.size * variance)

    return KdRule(lambda box: _best_cut(np.maximum(box, 0.0), _entropy_gains), goes_on)


def partition(counts: FloatArray, variance: float, rule: KdRule) -> IntArray:
    """Return the number of the box that each cell of a grid falls into, C order.

    Args:
        counts: Noisy counts, one axis a dimension.
        variance: Of the noise in each.
        rule: When and where to cut.

    Returns:
        Numbers from 0 in the order in which the boxes' first cells stand on the path
        of the cuts: a function of the arguments alone.
    """
    labels = np.zeros(counts.shape, dtype=np.int64)
    waiting: list[Box] = [tuple((0, length) for length in counts.shape)]
    found = 0
    while waiting:
        place = waiting.pop()
        box = counts[tuple(slice(*ends) for ends in place)]
        cut = rule.best(box) if box.size > 1 else None
        if cut is not None and rule.goes_on(box, cut.gain, variance):
            waiting += _halves(place, cut)
            continue
        labels[tuple(slice(*ends) for ends in place)] = found
        found += 1
    return labels.ravel()


def _halves(box: Box, cut: Cut) -> list[Box]:
    """Return the second and the first part: the first is taken next."""
    first, last = box[cut.axis]
    middle = first + cut.place
    before, after = box[: cut.axis], box[cut.axis + 1 :]
    return [
        (*before, (middle, last), *after),
        (*before, (first, middle), *after),
    ]


def _best_cut(box: FloatArray, gains: Callable[[FloatArray, int], FloatArray]) -> Cut:
    best = Cut(0, 1, -math.inf)
    axes = range(box.ndim)
    for axis in axes:
        length = box.shape[axis]
        if length > 1:
            others = tuple(other for other in axes if other != axis)
            along = gains(box.sum(axis=others), box.size // length)
            place = int(np.argmax(along))
            if along[place] > best.gain:
                best = Cut(axis, place + 1, float(along[place]))
    return best


def _square_gains(slices: FloatArray, cells: int) -> FloatArray:
    """Return by how much each cut lowers the sum of squares."""
    before = np.cumsum(slices)
    total, count = before[-1], cells * len(slices)
    first = cells * np.arange(1, len(slices))
    away = before[:-1] - first * (total / count)
    return np.asarray(np.square(away) * (count / (first * (count - first))))


def _entropy_gains(slices: FloatArray, _cells: int) -> FloatArray:
    """Return the entropy of each cut's two masses; 0 where there is no mass."""
    before = np.cumsum(slices)
    if before[-1] <= 0:
        return np.zeros(len(slices) - 1)
    share = np.clip(before[:-1] / before[-1], 0.0, 1.0)
    return -_times_log(share) - _times_log(1.0 - share)


def _times_log(share: FloatArray) -> FloatArray:
    return share * np.log(np.where(share > 0, share, 1.0))
