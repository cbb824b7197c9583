"""Tails of weighted sums of independent draws: of discrete Laplace, of Gaussian noise.

Upper bounds, never estimates (docs/proofs/computed.md, discrete_gaussian.md). Arrays
have a row a kind of draw and a column a sum.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mechanisms.scales.gaussian.sums import gaussian_sum_half_width
from mechanisms.scales.half_widths import half_width

FloatArray = NDArray[np.float64]

_ALIKE: Final = 1e-4
"""Scales that differ by less, relatively, are taken as the greater of them."""

_MANY: Final = 30
"""Draws beyond which errors of whole steps are bounded as Hoeffding does."""

_SPARE: Final = 1e-3
"""The part of the chance of a miss that numerical errors may take, each."""

_MOST_TERMS: Final = 4_096
_SUMS_AT_ONCE: Final = 256


class SumLaw(Protocol):
    """A kind of noise, of which weighted sums are made."""

    def half_width(
        self, draws: Sequence[tuple[Fraction, float, int]], miss: Fraction
    ) -> Fraction | None:
        """Return the half-width of a weighted sum; None: its tails have to be searched.

        Args:
            draws: Positive weight, scale in steps and number of draws.
            miss: With at most this the sum reaches further.
        """

    def tails(
        self,
        weights: FloatArray,
        scales: FloatArray,
        counts: FloatArray,
        moved: FloatArray,
        miss: float,
    ) -> FloatArray:
        r"""Return at least P(\|sum\| >= moved).

        Args:
            weights: Of each kind of draw in each sum, at least 0.
            scales: Of each kind of draw, in steps.
            counts: Independent draws of each kind.
            moved: One a sum, at least 0.
            miss: Numerical errors add at most a hundredth of it or so.
        """


class LaplaceSums:
    """Sums of discrete Laplace noise."""

    def half_width(
        self, draws: Sequence[tuple[Fraction, float, int]], miss: Fraction
    ) -> Fraction | None:
        """Return the half-width of one draw; of several, tails have to be searched."""
        ((weight, scale, count), *others) = draws
        return None if others or count > 1 else weight * half_width(scale, 1 - miss)

    def tails(
        self,
        weights: FloatArray,
        scales: FloatArray,
        counts: FloatArray,
        moved: FloatArray,
        miss: float,
    ) -> FloatArray:
        r"""Return at least P(\|sum\| >= moved), by continuous Laplace noise."""
        counts = np.where(weights > 0, counts, 0.0)
        offsets = _offsets(scales, counts.sum(axis=0))
        rest, spare = _rest(weights * offsets, counts, moved, miss)
        return laplace_tails(weights * scales, counts, rest, miss) + spare


class GaussianSums:
    """Sums of discrete Gaussian noise; scales are sigmas."""

    def half_width(
        self, draws: Sequence[tuple[Fraction, float, int]], miss: Fraction
    ) -> Fraction | None:
        """Return the half-width of any sum, by the least of three bounds."""
        return gaussian_sum_half_width(draws, miss)

    def tails(
        self,
        weights: FloatArray,
        scales: FloatArray,
        counts: FloatArray,
        moved: FloatArray,
        miss: float,
    ) -> FloatArray:
        r"""Return at least P(\|sum\| >= moved), by continuous Gaussian noise.

        A discrete draw lies at most a step from the continuous one it is made of.
        """
        counts = np.where(weights > 0, counts, 0.0)
        rest, spare = _rest(weights, counts, moved, miss)
        variance = (counts * (weights * scales) ** 2).sum(axis=0)
        deviations = np.sqrt(np.where(variance > 0, variance, 1.0))
        reached = np.where(variance > 0, rest / deviations, np.where(rest > 0, 40, 0))
        found = np.array([math.erfc(x / math.sqrt(2)) for x in reached])
        return np.asarray(found * (1 + 1e-9) + spare)


LAPLACE_SUMS: Final = LaplaceSums()
GAUSSIAN_SUMS: Final = GaussianSums()


def _rest(
    offsets: FloatArray, counts: FloatArray, moved: FloatArray, miss: float
) -> tuple[FloatArray, FloatArray]:
    """Return what continuous noise has to reach, and the probability left out.

    Args:
        offsets: How far a draw of each kind may lie from its continuous one, weighted.
        counts: Of draws that count.
        moved: What the discrete sum reaches.
        miss: A hundredth of it is left out of sums of many draws.
    """
    total = counts.sum(axis=0)
    few = np.where(total <= _MANY, (offsets * counts).sum(axis=0), 0.0)
    spare = _SPARE * 10 * miss
    spread = np.sqrt((offsets**2 * counts).sum(axis=0))
    many = np.where(total > _MANY, spread * math.sqrt(2 * math.log(2 / spare)), 0.0)
    rest = np.maximum(moved - few - many, 0.0)
    return rest, np.where(total > _MANY, spare, 0.0)


def _offsets(scales: FloatArray, total: FloatArray) -> FloatArray:
    """Return how far a discrete draw may lie from the continuous one it is made of.

    A discrete Laplace draw is the continuous one L with |L| + theta cut to whole steps,
    theta = t ln(2 / (1 + exp(-1/t))); alone it reaches at most theta further.
    """
    rates = 1 / np.where(scales > 0, scales, 1.0)
    theta = -np.log1p(np.expm1(-rates) / 2) / rates
    return np.where(total == 1, theta, 1 - theta) + 1e-9


def laplace_tails(
    scales: FloatArray, counts: FloatArray, distances: FloatArray, miss: float
) -> FloatArray:
    """Return upper bounds of P(|S| >= distance) for sums S of continuous Laplace noise.

    Args:
        scales: (kinds, sums), at least 0.
        counts: Independent draws of each kind; those of scale 0 are none.
        distances: One a sum, at least 0.
        miss: Numerical errors add at most a thousandth of it or so.

    One and two draws have closed forms. Of more the characteristic function is summed
    over a period, with bounds of what is cut off; or, where that says more, all but the
    greatest draw are taken as one of the sum of their scales.

    Source: docs/proofs/computed.md.
    """
    live = np.where(scales > 0, counts, 0.0)
    greatest = scales.max(axis=0)
    rest = (scales * live).sum(axis=0) - greatest
    found = _two(greatest, np.maximum(rest, 0.0), distances)
    several = live.sum(axis=0) > 2  # noqa: PLR2004 - closed forms end there
    several &= rest > 0.02 * greatest
    places = np.flatnonzero(several)
    for start in range(0, len(places), _SUMS_AT_ONCE):
        some = places[start : start + _SUMS_AT_ONCE]
        summed = _by_frequencies(scales[:, some], live[:, some], distances[some], miss)
        found[some] = np.minimum(found[some], summed)
    return found


def _two(first: FloatArray, second: FloatArray, distances: FloatArray) -> FloatArray:
    """Return P(|S| >= distance) for two draws, one of scale 0 or more."""
    high, low = np.maximum(first, second), np.minimum(first, second)
    safe = np.where(high > 0, high, 1.0)
    ratio = low / safe
    alike = ratio > 1 - _ALIKE
    x = distances / safe
    far = np.exp(-x)
    equal = (1 + x / 2) * far
    apart = 1 - np.where(alike, 0.0, ratio) ** 2
    near = np.exp(-x / np.where(ratio > 0, ratio, 1.0)) * (ratio > 0)
    unequal = (far - ratio**2 * near) / apart
    found = np.where(alike, equal, unequal)
    return np.where(high > 0, np.minimum(found, 1.0), (distances <= 0).astype(float))


def _by_frequencies(
    scales: FloatArray, counts: FloatArray, distances: FloatArray, miss: float
) -> FloatArray:
    """Sum the characteristic function over a period; 1 where that takes too long."""
    spare = _SPARE * miss
    greatest = scales.max(axis=0)
    variance = (counts * scales**2).sum(axis=0)
    rate = np.minimum(
        1 / (math.sqrt(2) * greatest),
        np.sqrt(math.log(2 / spare) / (1.4 * variance)),
    )
    moments = -(counts * np.log1p(-((rate * scales) ** 2))).sum(axis=0)
    beyond = (math.log(2 / spare) + moments) / rate  # P(|S| >= beyond) <= spare
    parts = np.minimum(distances, beyond) / beyond
    unit = math.pi / beyond  # frequencies of the period 2 * beyond
    found, left, terms = np.ones_like(distances), np.arange(len(distances)), 16
    while len(left) and terms <= _MOST_TERMS:
        u = unit[left] * terms
        last = np.exp(-(counts[:, left] * np.log1p((u * scales[:, left]) ** 2)).sum(0))
        is_enough = (last <= spare) & (u * greatest[left] >= 1)
        some, left = left[is_enough], left[~is_enough]
        inside = _inside(
            scales[:, some] * unit[some], counts[:, some], parts[some], terms
        )
        found[some] = np.clip(1 - inside + 2 * spare, 2 * spare, 1.0)
        terms *= 2
    return found


def _inside(
    scales: FloatArray, counts: FloatArray, parts: FloatArray, terms: int
) -> FloatArray:
    """Return P(|S| < part of half a period), and that of its repetitions."""
    numbers = np.arange(1, terms + 1)[:, None]
    values = 1 / numbers * np.ones_like(parts)
    for scale, count in zip(scales, counts, strict=True):
        factor = 1 + (numbers * scale) ** 2
        with np.errstate(over="ignore"):  # what is that large divides to 0
            values /= factor if (count == 1).all() else factor**count
    waves = (values * np.sin(math.pi * numbers * parts)).sum(axis=0)
    return np.asarray(parts + 2 / math.pi * waves)
