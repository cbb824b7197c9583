"""Exact discrete Gaussian vectors: discrete Laplace draws, thinned by exact trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt
from os import urandom
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.samplers.enclosures import (
    Decay,
    Interval,
    PassProbability,
    exp_minus,
    share,
)
from mechanisms.samplers.entropy import Entropy
from mechanisms.samplers.geometric import LARGEST, geometric_of, whole
from mechanisms.samplers.trials import succeeds, successes
from privacy.counts import IntArray
from privacy.sealed import SATURATION

MAX_VARIANCE: Final = Fraction(2**80)
"""Largest variance, in squared grid steps; the least is its inverse."""

EXPONENT_BITS: Final = 16
"""Binary places of an exponential number that are read before it is compared."""

_ONE = 1 << EXPONENT_BITS
_SLACK = 2.0**-48  # more than twice what the float64 comparison can be wrong by
_BLOCK = 1 << 16
_CACHED_LAWS = 64
_COMMON_BITS = 20
_SHARED_BITS = 2


class OsGaussianSampler:
    """Exact: no probability is rounded. Takes no seed, keeps nothing between draws.

    Source: docs/proofs/discrete_gaussian.md.
    """

    def discrete_gaussian(self, values: Sequence[int], scale: float) -> list[int]:
        """Return each value, saturated at 2**62, plus noise, saturated at 2**62 - 1."""
        noise = gaussian(len(values), Fraction(scale) ** 2, urandom).tolist()
        return [
            _within(SATURATION - 1, _within(SATURATION, value) + each)
            for value, each in zip(values, noise, strict=True)
        ]


def make_tables() -> None:
    """Make the tables of all scales up to 2**20, so that no answer waits for them."""
    for bits in range(_COMMON_BITS):
        for scale in {1 << bits, max(1, 3 << bits >> 1)}:
            _law_of(Fraction(scale - 1) ** 2 or Fraction(1, 4)).draw(1, urandom)


def gaussian(size: int, variance: Fraction, entropy: Entropy) -> IntArray:
    """Return ``size`` draws of X, ``P(X = x)`` in proportion to exp(-x**2/2variance).

    What lies beyond 64 bits is returned as their end.

    Args:
        size: How many independent draws.
        variance: From 2**-80 to 2**80, in squared grid steps.
        entropy: Where the bits come from.

    Raises:
        ValueError: The variance is out of range.

    Source: Canonne, Kamath and Steinke 2020; docs/proofs/discrete_gaussian.md.
    """
    return _law_of(variance).draw(size, entropy)


class Gaussian:
    """Draws discrete Gaussian noise: proposals, each kept or not by an exact trial.

    Y is proposed with probabilities in proportion to ``exp(-|y|/t)``, and kept with
    probability ``exp(-g)``, ``g = (|y| - variance/t)**2 / (2 variance)``: whenever an
    exponential number is at least g.

    Source: docs/proofs/discrete_gaussian.md.
    """

    def __init__(self, variance: Fraction) -> None:
        if not 1 / MAX_VARIANCE <= variance <= MAX_VARIANCE:
            message = f"a variance lies from 2**-80 to 2**80, not {variance}"
            raise ValueError(message)
        scale = Fraction(_shared(isqrt(floor(variance)) + 1))  # above the deviation
        self._variance = variance
        self._centre = variance / scale
        self._rate = _ONE / (2 * variance)
        self._distances = geometric_of(Decay(scale))
        self._negative = PassProbability(1, scale)
        self._exponentials = geometric_of(Decay(Fraction(_ONE)))

    def draw(self, size: int, entropy: Entropy) -> IntArray:
        """Return ``size`` independent draws; those beyond 64 bits as their end."""
        drawn = np.empty(size, dtype=np.int64)
        done = 0
        while done < size:
            missing = size - done
            kept = self.proposed(min(_BLOCK, missing + missing // 2 + 8), entropy)
            kept = kept[:missing]
            drawn[done : done + len(kept)] = kept
            done += len(kept)
        return drawn

    def proposed(self, size: int, entropy: Entropy) -> IntArray:
        """Return those of ``size`` proposals that are kept, in their order."""
        distances = self._distances.draw(size, entropy)
        negative = successes(size, self._negative, entropy)
        exponentials = self._exponentials.draw(size, entropy)
        values = distances ^ -negative.astype(np.int64)  # -1 - G where it is negative
        kept, in_doubt = self.compare(distances, negative, exponentials)
        for place in np.flatnonzero(in_doubt):
            values[place], kept[place] = self._settle(
                int(values[place]), int(exponentials[place]), entropy
            )
        return values[kept]

    def compare(
        self,
        distances: IntArray,
        negative: NDArray[np.bool_],
        exponentials: IntArray,
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which proposals are surely kept, and which only exact numbers settle.

        Sums, products and differences of float64 are rounded to nearest, so the loss
        is wrong by less than half the slack.
        """
        offset = distances.astype(np.float64) + negative - float(self._centre)
        loss = offset * offset * float(self._rate)
        slack = (loss + _ONE) * _SLACK
        known = exponentials.astype(np.float64)
        kept = known >= loss + slack
        in_doubt = ~kept & (known + 1 > loss - slack)
        in_doubt |= (distances == LARGEST) | (exponentials == LARGEST)
        return kept, in_doubt

    def _settle(
        self, value: int, exponential: int, entropy: Entropy
    ) -> tuple[int, bool]:
        """Return a proposal and whether it is kept, by fractions alone."""
        distance = whole(value ^ -(value < 0), self._distances, entropy)
        exponential = whole(exponential, self._exponentials, entropy)
        magnitude = distance + (value < 0)
        loss = self._rate * (magnitude - self._centre) ** 2
        kept = exponential >= loss or (
            exponential + 1 > loss
            and succeeds(RestOfExponential(loss - exponential), entropy)
        )
        ends = -LARGEST - 1, LARGEST
        signed = -magnitude if value < 0 else magnitude
        return max(ends[0], min(ends[1], signed)), kept


def _shared(scale: int) -> int:
    """Return the next power of two, or one and a half of it: a few dozen in all.

    Tables of a proposal's law take milliseconds: most variances find theirs made. At
    most half above, it lets one proposal in ten more be refused.
    """
    spare = max(0, scale.bit_length() - _SHARED_BITS)
    return -(-scale >> spare) << spare if spare else scale


def _within(end: int, value: int) -> int:
    return max(-end, min(end, value))


@dataclass(frozen=True, slots=True)
class RestOfExponential:
    """The probability that an exponential number, cut to its first places, reaches on.

    That is ``(exp(-r/2**p) - b) / (1 - b)`` with ``b = exp(-1/2**p)``.

    Attributes:
        rest: How far it must reach beyond its known places, in units of the last one;
            from 0 to 1.
        places: p, how many binary places are known.
    """

    rest: Fraction
    places: int = EXPONENT_BITS

    def enclose(self, bits: int) -> Interval:
        """Return integers around it, a few units apart."""
        finer = bits + 2 * self.places
        one, unit = 1 << finer, 1 << self.places
        low, high = exp_minus(self.rest / unit, finer)
        b_low, b_high = exp_minus(Fraction(1, unit), finer)
        part = max(0, low - b_high), high - b_low
        return share(part, (one - b_high, one - b_low), bits)


@lru_cache(_CACHED_LAWS)
def _law_of(variance: Fraction) -> Gaussian:
    return Gaussian(variance)
