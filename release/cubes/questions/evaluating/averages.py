"""Intervals of averages over a published cube."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from release.contract.models import FloatArray, Weighing
from release.cubes.questions.evaluating.measuring import Weighed
from release.cubes.questions.evaluating.steps import halvings

_HALVINGS: Final = 36
_CLOSE: Final = 1e-9
"""Width at which the search for an end stops, in steps of the column's grid; what is
shown has six digits, rounded outwards."""

_TRIES: Final = 15
_SMALL: Final = 4_096
"""Counts up to which many averages are tried at once: fewer, larger steps of numpy."""


def average_interval(
    weighed: Weighed, bounds: tuple[float, float], widening: float
) -> tuple[FloatArray, FloatArray]:
    """Return between which values the average of each cell lies.

    An average t is not ruled out while the sum of (number - t) over the cell is within
    its own half-width of 0 (Fieller's argument), so that the errors of sum and count,
    which are the same errors, are not counted twice.

    Args:
        weighed: Counts by cell and number.
        bounds: That every average lies between, in steps.
        widening: Of 95 % half-widths.

    Returns:
        Lower and upper ends, in steps, a cell each.
    """
    low, high = bounds
    if weighed.weighing is not None:
        return _by_model(weighed, weighed.weighing, bounds, widening)
    total = weighed.counts.sum(axis=1)
    middle = _averages(weighed, total, bounds)
    unknown = ~_possible(weighed, middle[None, :], widening)[0]
    outer = np.stack([np.full_like(middle, low), np.full_like(middle, high)])
    lower, upper = _ends(weighed, middle, outer, widening)
    return np.where(unknown, low, lower), np.where(unknown, high, upper)


def _possible(
    weighed: Weighed, averages: FloatArray, widening: float
) -> NDArray[np.bool_]:
    """Return which averages are not ruled out.

    Args:
        weighed: Counts by cell and number.
        averages: (tries, cells).
        widening: Of 95 % half-widths.
    """
    deviations = weighed.numbers - averages[:, :, None]
    errors = np.abs((weighed.counts * deviations).sum(axis=-1))
    return np.asarray(errors <= widening * weighed.error_of(deviations))


def _ends(
    weighed: Weighed, middle: FloatArray, outer: FloatArray, widening: float
) -> FloatArray:
    """Return the farthest averages towards ``outer`` that are not ruled out."""
    reaches = _possible(weighed, outer, widening)
    if reaches.all():
        return outer
    tries = _TRIES if weighed.counts.size <= _SMALL else 1
    parts = np.arange(tries + 2)[:, None, None] / (tries + 1)
    inside, outside = np.broadcast_to(middle, outer.shape), outer
    for _ in range(_rounds(float(np.max(np.abs(outer - middle))), tries + 1)):
        ladder = inside + (outside - inside) * parts
        ladder[-1] = outside
        between = ladder[1:-1].reshape(-1, middle.size)
        possible = _possible(weighed, between, widening).reshape(ladder[1:-1].shape)
        steps = np.arange(1, tries + 1)[:, None, None]
        last = (possible * steps).max(axis=0, keepdims=True)
        inside = np.take_along_axis(ladder, last, axis=0)[0]
        outside = np.take_along_axis(ladder, last + 1, axis=0)[0]
    return np.where(reaches, outer, outside)


def _rounds(width: float, parts: int) -> int:
    """Return how often to take one of so many parts until it cannot be seen."""
    halvings = math.log2(max(width, _CLOSE) / _CLOSE)
    return math.ceil(min(_HALVINGS, halvings) / math.log2(parts))


def _averages(
    weighed: Weighed, total: FloatArray, bounds: tuple[float, float]
) -> FloatArray:
    low, high = bounds
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.where(total > 0, (weighed.counts @ weighed.numbers) / total, low)
    return np.clip(middle, low, high)


def _by_model(
    weighed: Weighed,
    weighing: Weighing,
    bounds: tuple[float, float],
    widening: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the ends where a model bounds the sum of (number - t) itself."""
    low, high = bounds

    def possible(averages: FloatArray) -> NDArray[np.bool_]:
        told = weighed.bounded(averages, weighing)
        more = (widening - 1) * told.noise
        least, most = told.values - told.below, told.values + told.above
        return np.asarray((least - more <= 0) & (most + more >= 0))

    middle = _averages(weighed, weighed.counts.sum(axis=1), bounds)
    unknown = ~possible(middle)
    times = halvings(weighing.entries)
    ends = []
    for far in (low, high):
        inside, outside = middle, np.full_like(middle, far)
        reaches = possible(outside)
        for _ in range(0 if reaches.all() else times):
            between = (inside + outside) / 2
            holds = possible(between)
            inside = np.where(holds, between, inside)
            outside = np.where(holds, outside, between)
        ends.append(np.where(reaches | unknown, far, outside))
    return ends[0], ends[1]
