"""How far weighted sums of discrete Laplace noise reach, and ratios of them.

Bounds, never estimates: what is stated holds with at least the confidence that is asked
for, whatever the exact numbers are (docs/proofs/computed.md). Of public scales and
noisy numbers alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.scales.half_widths import half_width

FloatArray = NDArray[np.float64]

_ALIKE: Final = 1e-4
"""Scales that differ by less, relatively, are taken as the greater of them."""

_MANY: Final = 30
"""Draws beyond which errors of whole steps are bounded as Hoeffding does."""

_SPARE: Final = 1e-3
"""The part of the chance of a miss that numerical errors may take, each."""

_MOST_TERMS: Final = 4_096
_HALVINGS: Final = 24
_DOUBLINGS: Final = 60
_SUMS_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True)
class Draws:
    """Like draws of noise in a fraction ``(N + noise) / (D + noise)``.

    Attributes:
        above: What the numerator takes of each.
        below: What the denominator takes of each.
        scale: Of each, in grid steps.
        count: How many independent draws they are.
    """

    above: Fraction
    below: Fraction
    scale: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class NoisyFraction:
    """A ratio of two noisy numbers, which may have draws in common.

    Attributes:
        value: Of the noisy numbers.
        denominator: The noisy one, not 0.
        draws: All noise in both.
        lowest: That the exact ratio can have, publicly; None if nothing is known.
        highest: Likewise.
    """

    value: Fraction
    denominator: Fraction
    draws: tuple[Draws, ...]
    lowest: Fraction | None = None
    highest: Fraction | None = None


Ends = tuple[Fraction | None, Fraction | None]
"""Lower and upper end of an interval; None is an open one."""


def sum_half_width(
    draws: Sequence[tuple[Fraction, float, int]], miss: Fraction
) -> Fraction:
    """Return w with P(|weighted sum of noise| > w) at most ``miss``.

    Args:
        draws: Weight, scale in steps and number of independent draws alike.
        miss: Strictly between 0 and 1.

    One draw alone has its exact half-width; of several it is an upper bound, rounded
    down to what the sum can be.

    Source: docs/proofs/computed.md.

    >>> sum_half_width([(Fraction(2), 10.0, 1)], Fraction(5, 100))
    Fraction(60, 1)
    >>> sum_half_width([(Fraction(1), 10.0, 2)], Fraction(5, 100))
    Fraction(42, 1)
    """
    return sum_half_widths([draws], miss)[0]


_Sum = tuple[tuple[Fraction, float, int], ...]


def sum_half_widths(
    sums: Sequence[Sequence[tuple[Fraction, float, int]]], miss: Fraction
) -> list[Fraction]:
    """Return ``sum_half_width`` of each of many sums, which share their arrays.

    Of a running sum over a thousand rows each has one draw more than the one before.
    """
    moved: list[_Sum] = [
        tuple((abs(w), scale, n) for w, scale, n in draws if w != 0 and n > 0)
        for draws in sums
    ]
    found: dict[_Sum, Fraction] = {}
    several = []
    for each in dict.fromkeys(moved):
        if len(each) > 1 or (each and each[0][2] > 1):
            several.append(each)
        else:
            alone = (weight * half_width(scale, 1 - miss) for weight, scale, _ in each)
            found[each] = sum(alone, Fraction(0))
    if several:
        noise = _Noise.of([_fraction_of_sum(each) for each in several])
        for each, reach in zip(several, noise.reach(float(miss)), strict=True):
            grain = _grain([w for w, _, _ in each])
            found[each] = math.floor(Fraction(float(reach)) / grain) * grain
    return [found[each] for each in moved]


def fraction_ends(fractions: Sequence[NoisyFraction], miss: Fraction) -> list[Ends]:
    """Return an interval of each ratio; each by itself misses with at most ``miss``.

    A ratio r is kept while the noisy N - rD lies within the half-width of the noise in
    it (Fieller's argument), so that draws that N and D share are counted once. What is
    publicly impossible is left out.

    Source: Fieller 1954; docs/proofs/computed.md.
    """
    if not fractions:
        return []
    noise = _Noise.of(fractions)
    values = np.array([float(each.denominator) for each in fractions])
    step = np.abs(values)
    is_bounded = ~noise.keeps(np.full(step.shape, np.inf), step, float(miss))
    sides = [
        noise.end(step, is_bounded, _limits(fractions, sign), sign, float(miss))
        for sign in (-1.0, 1.0)
    ]
    return [
        _within(each, low, high)
        for each, low, high in zip(fractions, *sides, strict=True)
    ]


def _within(each: NoisyFraction, low: float, high: float) -> Ends:
    """Return ends from distances; a distance of infinity leaves an end open."""
    ends: list[Fraction | None] = []
    for distance in (low, high):
        end = None if math.isinf(distance) else each.value + Fraction(distance)
        if each.lowest is not None:
            end = each.lowest if end is None and distance < 0 else end
            end = None if end is None else max(end, each.lowest)
        if each.highest is not None:
            end = each.highest if end is None and distance > 0 else end
            end = None if end is None else min(end, each.highest)
        ends.append(end)
    return ends[0], ends[1]


def _limits(fractions: Sequence[NoisyFraction], sign: float) -> FloatArray:
    """Return how far from its value a ratio may publicly lie on one side."""
    found: list[float] = []
    for each in fractions:
        limit = each.lowest if sign < 0 else each.highest
        far = math.inf if limit is None else float(abs(limit - each.value))
        outside = limit is not None and (limit - each.value) * Fraction(sign) <= 0
        found.append(0.0 if outside else far)
    return np.array(found)


def _fraction_of_sum(draws: Sequence[tuple[Fraction, float, int]]) -> NoisyFraction:
    parts = tuple(Draws(w, Fraction(0), scale, n) for w, scale, n in draws)
    return NoisyFraction(Fraction(0), Fraction(1), parts)


def _grain(weights: Sequence[Fraction]) -> Fraction:
    """Return the greatest number that all weights are whole multiples of."""
    denominator = math.lcm(*(w.denominator for w in weights))
    whole = math.gcd(*(int(w * denominator) for w in weights))
    return Fraction(whole, denominator)


@dataclass(frozen=True, slots=True)
class _Noise:
    """The noise of several fractions: a row a kind of draw, a column a fraction.

    With a ratio at a distance d from the noisy value, the noise of N - rD has the
    weights ``errors - d * below``.
    """

    errors: FloatArray
    below: FloatArray
    scales: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, fractions: Sequence[NoisyFraction]) -> "_Noise":
        """Lay out the draws of fractions."""
        rows = max(1, *(len(each.draws) for each in fractions), 1)
        shape = (rows, len(fractions))
        found = cls(*(np.zeros(shape) for _ in range(4)))
        for place, each in enumerate(fractions):
            for row, draws in enumerate(each.draws):
                found.errors[row, place] = float(draws.above - each.value * draws.below)
                found.below[row, place] = float(draws.below)
                found.scales[row, place] = draws.scale
                found.counts[row, place] = draws.count
        return found

    def keeps(
        self, distance: FloatArray, step: FloatArray, miss: float
    ) -> NDArray[np.bool_]:
        """Return whether ratios at signed distances are kept; infinity: far away."""
        far = np.isinf(distance)
        weights = np.where(
            far, self.below, self.errors - _finite(distance) * self.below
        )
        moved = np.where(far, step, np.abs(_finite(distance)) * step)
        return np.asarray(self._tails(np.abs(weights), moved, miss) >= miss)

    def end(
        self,
        step: FloatArray,
        is_bounded: NDArray[np.bool_],
        limits: FloatArray,
        sign: float,
        miss: float,
    ) -> FloatArray:
        """Return how far kept ratios reach to one side, at most to public limits.

        Where the denominator may be 0, and no limit is known or the limit is kept, that
        is infinity.
        """
        outer = np.where(np.isinf(limits), self._first_guess(step), limits)
        open_end = np.isinf(limits) & ~is_bounded
        for _ in range(_DOUBLINGS):
            growing = np.isinf(limits) & ~open_end
            growing &= self.keeps(sign * outer, step, miss)
            if not growing.any():
                break
            outer = np.where(growing, 2 * outer, outer)
        open_end |= self.keeps(sign * outer, step, miss)
        inside = np.zeros_like(outer)
        for _ in range(_HALVINGS):
            middle = (inside + outer) / 2
            kept = self.keeps(sign * middle, step, miss)
            inside, outer = (
                np.where(kept, middle, inside),
                np.where(kept, outer, middle),
            )
        return np.asarray(sign * np.where(open_end, np.inf, outer))

    def reach(self, miss: float) -> FloatArray:
        """Return how far the noise of numerators reaches."""
        everywhere = np.ones(self.errors.shape[1])
        still = np.zeros_like(self.below)
        alone = _Noise(self.errors, still, self.scales, self.counts)
        limits = np.full(everywhere.shape, np.inf)
        return alone.end(everywhere, everywhere > 0, limits, 1.0, miss)

    def _first_guess(self, step: FloatArray) -> FloatArray:
        spread = (np.abs(self.errors) * self.scales * np.sqrt(self.counts)).sum(axis=0)
        return np.asarray(np.maximum(spread, np.finfo(float).tiny) / step)

    def _tails(self, weights: FloatArray, moved: FloatArray, miss: float) -> FloatArray:
        """Return at least P(|sum of discrete noise| >= moved), by continuous noise."""
        counts = np.where(weights > 0, self.counts, 0.0)
        total = counts.sum(axis=0)
        offsets = _offsets(self.scales, total)
        steps = (weights * offsets * counts).sum(axis=0)
        few = np.where(total <= _MANY, steps, 0.0)
        spare = _SPARE * 10 * miss
        spread = np.sqrt((weights**2 * offsets**2 * counts).sum(axis=0))
        many = np.where(total > _MANY, spread * math.sqrt(2 * math.log(2 / spare)), 0.0)
        rest = np.maximum(moved - few - many, 0.0)
        found = laplace_tails(weights * self.scales, counts, rest, miss)
        return np.where(total > _MANY, found + spare, found)


def _finite(distance: FloatArray) -> FloatArray:
    return np.where(np.isinf(distance), 0.0, distance)


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
