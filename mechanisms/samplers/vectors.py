"""Exact integer noise for whole vectors, from operating-system entropy alone."""

import os
from fractions import Fraction
from typing import Protocol

import numpy as np

from mechanisms.samplers.binomial import binomial
from mechanisms.samplers.enclosures import Decay, PassProbability
from mechanisms.samplers.entropy import integers_below
from mechanisms.samplers.gaussian import gaussian
from mechanisms.samplers.geometric import geometric_of
from mechanisms.samplers.skips import skip
from mechanisms.samplers.trials import successes
from privacy.counts import IntArray

_BLOCK = 1 << 16


class VectorSampler(Protocol):
    """Where the noise of releases comes from."""

    def discrete_laplace(self, size: int, scale: Fraction) -> IntArray:
        """Return ``size`` independent draws of X, ``P(X = x)`` as ``exp(-|x|/scale)``.

        What lies beyond 64 bits is returned as their end.
        """
        ...

    def discrete_gaussian(self, size: int, variance: Fraction) -> IntArray:
        """Return ``size`` independent draws, ``P(X = x)`` as ``exp(-x**2/2variance)``.

        What lies beyond 64 bits is returned as their end.
        """
        ...

    def tail_geometric(self, size: int, scale: Fraction) -> IntArray:
        """Return ``size`` draws of ``X - t`` given ``X >= t``, whatever t >= 0 is."""
        ...

    def positions(self, cells: int, threshold: int, scale: Fraction) -> IntArray:
        """Return which of 0..cells-1 get noise of at least ``threshold``, ascending."""
        ...

    def binomial(self, cells: int, threshold: int, scale: Fraction) -> int:
        """Return of how many of so many cells the noise is at least ``threshold``."""
        ...

    def choose(self, scores: IntArray, scale: Fraction) -> int:
        """Return a place, with probability proportional to exp(scores[place]/scale)."""
        ...


class OsVectorSampler:
    """Exact: no probability is rounded. Takes no seed, and keeps nothing between draws.

    Source: docs/proofs/vector_discrete_laplace.md.
    """

    def discrete_laplace(self, size: int, scale: Fraction) -> IntArray:
        """Return ``size`` independent draws; see the protocol."""
        drawn = self.tail_geometric(size, scale)
        for start in range(0, size, _BLOCK):
            block = drawn[start : start + _BLOCK]
            negative = successes(len(block), PassProbability(1, scale), os.urandom)
            block ^= -negative.astype(np.int64)  # -1 - G where it is negative
        return drawn

    def discrete_gaussian(self, size: int, variance: Fraction) -> IntArray:
        """Return ``size`` independent draws; see the protocol.

        Source: docs/proofs/discrete_gaussian.md.
        """
        return gaussian(size, variance, os.urandom)

    def tail_geometric(self, size: int, scale: Fraction) -> IntArray:
        """Return ``size`` independent draws; see the protocol."""
        return geometric_of(Decay(scale)).draw(size, os.urandom)

    def positions(self, cells: int, threshold: int, scale: Fraction) -> IntArray:
        """Return which cells pass, without visiting the others; see the protocol.

        Source: docs/proofs/sparse_counts.md.
        """
        return skip(cells, PassProbability(threshold, scale), os.urandom)

    def binomial(self, cells: int, threshold: int, scale: Fraction) -> int:
        """Return how many cells pass, without drawing which; see the protocol.

        Source: docs/proofs/binomial.md.
        """
        return binomial(cells, PassProbability(threshold, scale), os.urandom)

    def choose(self, scores: IntArray, scale: Fraction) -> int:
        """Return a place; see the protocol.

        Source: docs/proofs/exponential_mechanism.md.
        """
        lost = scores.max() - scores
        while True:
            tried = integers_below(os.urandom, len(scores), len(scores))
            kept = np.flatnonzero(self.tail_geometric(len(tried), scale) >= lost[tried])
            if len(kept):
                return int(tried[kept[0]])
