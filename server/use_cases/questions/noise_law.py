"""What is known of an answer's noise: the scales of its vectors, all public."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechanisms.scales.noises import LAPLACE, Noise, noise_of_measure
from mechanisms.scales.weighted_sums import (
    Draws,
    NoisyFraction,
    fraction_ends,
    sum_half_widths,
)
from privacy.events import PriceEvent
from query_lang.showing.computed.bounds import Bounds, End
from query_lang.showing.computed.intervals import NoisyRatio


@dataclass(frozen=True, slots=True)
class AnswerNoise:
    """Noise of one kind and of given scales, a vector each."""

    scales: tuple[float, ...]
    kind: Noise = LAPLACE

    def half_width(self, vector: int, confidence: Fraction) -> int:
        """Return the half-width of one value of a vector, in grid steps."""
        return self.kind.half_width(self.scales[vector], confidence)

    def sum_half_widths(
        self, sums: Sequence[Sequence[tuple[Fraction, int, int]]], miss: Fraction
    ) -> list[Fraction]:
        """Return that of weighted sums: weights, vectors, how many draws of each."""
        scaled = [[(w, self.scales[v], n) for w, v, n in draws] for draws in sums]
        return sum_half_widths(scaled, miss, self.kind.sums)

    def ratio_bounds(
        self, ratios: Sequence[NoisyRatio], miss: Fraction
    ) -> list[Bounds]:
        """Return an interval of each ratio, which misses with at most ``miss``."""
        fractions = [self._fraction(each) for each in ratios]
        found = fraction_ends(fractions, miss, self.kind.sums)
        return [
            (-math.inf if low is None else low, math.inf if high is None else high)
            for low, high in found
        ]

    def _fraction(self, ratio: NoisyRatio) -> NoisyFraction:
        draws = tuple(
            Draws(each.above, each.below, self.scales[each.vector], each.count)
            for each in ratio.draws
        )
        low, high = (_known(end) for end in ratio.limits)
        return NoisyFraction(ratio.value, ratio.denominator, draws, low, high)


def _known(end: End) -> Fraction | None:
    return None if isinstance(end, float) else end


def noise_law(event: PriceEvent) -> AnswerNoise:
    """Return the noise of an answer's vectors."""
    scales = tuple(vector.scale for vector in event.vectors)
    return AnswerNoise(scales, noise_of_measure(event.measure))
