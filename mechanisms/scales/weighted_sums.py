"""How far weighted sums of noise reach, and ratios of them.

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

from mechanisms.scales.grains import grain_of
from mechanisms.scales.sum_tails import LAPLACE_SUMS, FloatArray, SumLaw

_HALVINGS: Final = 24
_DOUBLINGS: Final = 60


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
    draws: Sequence[tuple[Fraction, float, int]],
    miss: Fraction,
    law: SumLaw = LAPLACE_SUMS,
) -> Fraction:
    """Return w with P(|weighted sum of noise| > w) at most ``miss``.

    Args:
        draws: Weight, scale in steps and number of independent draws alike.
        miss: Strictly between 0 and 1.
        law: Of the noise.

    One draw alone has its exact half-width; of several it is an upper bound, rounded
    down to what the sum can be.

    Source: docs/proofs/computed.md.

    >>> sum_half_width([(Fraction(2), 10.0, 1)], Fraction(5, 100))
    Fraction(60, 1)
    >>> sum_half_width([(Fraction(1), 10.0, 2)], Fraction(5, 100))
    Fraction(42, 1)
    """
    return sum_half_widths([draws], miss, law)[0]


_Sum = tuple[tuple[Fraction, float, int], ...]


def sum_half_widths(
    sums: Sequence[Sequence[tuple[Fraction, float, int]]],
    miss: Fraction,
    law: SumLaw = LAPLACE_SUMS,
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
        known = law.half_width(each, miss) if each else Fraction(0)
        if known is None:
            several.append(each)
        else:
            found[each] = known
    if several:
        noise = _Noise.of([_fraction_of_sum(each) for each in several], law)
        for each, reach in zip(several, noise.reach(float(miss)), strict=True):
            grain = grain_of([w for w, _, _ in each])
            found[each] = math.floor(Fraction(float(reach)) / grain) * grain
    return [found[each] for each in moved]


def fraction_ends(
    fractions: Sequence[NoisyFraction], miss: Fraction, law: SumLaw = LAPLACE_SUMS
) -> list[Ends]:
    """Return an interval of each ratio; each by itself misses with at most ``miss``.

    A ratio r is kept while the noisy N - rD lies within the half-width of the noise in
    it (Fieller's argument), so that draws that N and D share are counted once. What is
    publicly impossible is left out.

    Source: Fieller 1954; docs/proofs/computed.md.
    """
    if not fractions:
        return []
    noise = _Noise.of(fractions, law)
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
    law: SumLaw

    @classmethod
    def of(cls, fractions: Sequence[NoisyFraction], law: SumLaw) -> "_Noise":
        """Lay out the draws of fractions."""
        rows = max(1, *(len(each.draws) for each in fractions), 1)
        shape = (rows, len(fractions))
        errors, below, scales, counts = (np.zeros(shape) for _ in range(4))
        found = cls(errors, below, scales, counts, law)
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
        draws = np.abs(weights), self.scales, self.counts
        return np.asarray(self.law.tails(*draws, moved, miss) >= miss)

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
        alone = _Noise(self.errors, still, self.scales, self.counts, self.law)
        limits = np.full(everywhere.shape, np.inf)
        return alone.end(everywhere, everywhere > 0, limits, 1.0, miss)

    def _first_guess(self, step: FloatArray) -> FloatArray:
        spread = (np.abs(self.errors) * self.scales * np.sqrt(self.counts)).sum(axis=0)
        return np.asarray(np.maximum(spread, np.finfo(float).tiny) / step)


def _finite(distance: FloatArray) -> FloatArray:
    return np.where(np.isinf(distance), 0.0, distance)
