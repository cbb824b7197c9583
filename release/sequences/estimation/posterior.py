"""Posterior mean and variance of a count: its noisy value, and a chain's prediction.

The prior of a count of which m was predicted is a mixture of exponential laws around m;
the noise is taken as Laplace. Nothing here touches raw data.
Source: docs/proofs/prefix_tree.md.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from release.contract.models import FloatArray

MIXTURE: Final = ((0.6, 0.5), (0.3, 2.0), (0.1, 8.0))
"""Weights of the laws of the prior, and their means in units of the expected count."""

SURPRISE: Final = 0.1
"""Probability that a count is any part of a whole, whatever was expected of it."""

SURPRISING_PART: Final = 0.25
"""The mean of that part, as a share of the whole."""

_LEAST_MEAN: Final = 1e-6
"""The least mean of a prior law, in noise scales."""

_NEAR: Final = 1e-3
"""Rates nearer than this, in noise scales, are moved apart: formulas divide by it."""

_VANISHED: Final = 1e-200
"""Where noise and prior together say so little, the noisy value is all there is."""

_POINTS: Final = 400
_EXPECTED: Final = np.logspace(-6, 6, 121)


@dataclass(frozen=True, slots=True)
class Likely:
    """Expected counts and their variances.

    Attributes:
        means: Expected counts, not negative.
        variances: Expected squared errors of them.
    """

    means: FloatArray
    variances: FloatArray


def seen(
    values: FloatArray,
    expected: FloatArray,
    scales: FloatArray,
    wholes: FloatArray | None = None,
) -> Likely:
    """Return posterior means and variances of counts whose noisy values are known.

    Below 0 all values say the same: every count lies above them, so the noise's density
    at each is exp(value / scale) times that of a value of 0, and the factor cancels.

    Args:
        values: Noisy counts.
        expected: Expected counts by the prior.
        scales: Of the noise.
        wholes: Counts that they are parts of, where one may be any part of it whatever
            was expected.
    """
    values = np.maximum(values, 0.0)
    moments = np.zeros((3, len(values)))
    laws = [(weight, expected * factor) for weight, factor in MIXTURE]
    if wholes is not None:
        laws = [(weight * (1 - SURPRISE), means) for weight, means in laws]
        laws.append((SURPRISE, wholes * SURPRISING_PART))
    for weight, law_mean in laws:
        means = np.maximum(law_mean, _LEAST_MEAN * scales)
        moments += weight * _moments(values, means, scales)
    known = moments[0] > _VANISHED
    mass = np.where(known, moments[0], 1.0)
    moved, square = moments[1] / mass, moments[2] / mass
    means = np.where(known, np.maximum(values + moved, 0.0), values)
    spread = np.where(known, square - moved**2, 2 * scales**2)
    return Likely(means, np.clip(spread, 0, 2 * scales**2))


def _moments(values: FloatArray, means: FloatArray, scales: FloatArray) -> FloatArray:
    """Return integrals of (x - value)**0, 1, 2 times prior times noise, over x >= 0.

    About the value, not about 0: a variance of a few scales would be lost in the
    difference of two squares of values many scales great.

    Args:
        values: At least 0.
        means: Of the exponential prior.
        scales: Of the noise; what is returned is in units of the noise's density at 0.
    """
    rate = 1 / scales - 1 / means
    near = np.abs(rate) * scales < _NEAR
    rate = np.where(near, _NEAR / scales, rate)
    means = np.where(near, scales / (1 - _NEAR), means)  # as their rate has moved
    noise, prior = np.exp(-values / scales), np.exp(-values / means)
    ends, steps = 1 / scales + 1 / means, rate * values
    below = (
        (prior - noise) / rate,
        (prior - noise * (1 + steps)) / rate**2,
        (2 * prior - noise * (2 + 2 * steps + steps**2)) / rate**3,
    )
    above = (prior / ends, prior / ends**2, 2 * prior / ends**3)
    signs = (1.0, -1.0, 1.0)
    both = zip(below, above, signs, strict=True)
    return np.array([(sign * low + high) / means for low, high, sign in both])


def kept_surplus(counts: FloatArray, threshold: int, scale: float) -> FloatArray:
    """Return how far above the threshold, less a scale, counts are kept on mean.

    Of a true count c and its noisy value v, kept from the threshold t on, that is the
    mean of v - t + s where v is kept, and of 0 where it is not: exactly c - t + s for c
    from t on, and s exp((c - t) / s) below.

    Args:
        counts: True ones.
        threshold: t.
        scale: s, of the noise.

    Source: docs/proofs/prefix_tree.md, "How many units".
    """
    above = (counts - threshold) / scale
    below = np.exp(np.minimum(above, 0.0))
    return np.asarray(scale * (below + np.maximum(above, 0.0)))


@dataclass(frozen=True, slots=True)
class Unseen:
    """Posterior means and variances of counts whose noisy value is below a threshold.

    Attributes:
        expected: Expected counts by the prior, ascending.
        means: Expected counts a posteriori.
        variances: Expected squared errors of them.
    """

    expected: FloatArray
    means: FloatArray
    variances: FloatArray

    @classmethod
    def of(cls, threshold: int, scale: float) -> "Unseen":
        """Return the table of one level."""
        quantiles = -np.log1p(-(np.arange(_POINTS) + 0.5) / _POINTS)
        expected = _EXPECTED * scale
        moments = np.zeros((3, len(expected)))
        for weight, factor in MIXTURE:
            counts = expected[:, None] * factor * quantiles
            below = (threshold - counts) / scale
            tails = 0.5 * np.exp(-np.abs(below))
            probabilities = weight * np.where(below < 0, tails, 1 - tails)
            for power in range(3):
                moments[power] += (counts**power * probabilities).mean(axis=1)
        mass = np.maximum(moments[0], _VANISHED)
        means = np.minimum(moments[1] / mass, threshold + scale)
        spread = np.clip(moments[2] / mass - means**2, 0, threshold**2)
        return cls(expected, means, spread)

    def likely(self, expected: FloatArray) -> Likely:
        """Return posterior means and variances, interpolated in the table."""
        return Likely(
            np.interp(expected, self.expected, self.means),
            np.interp(expected, self.expected, self.variances),
        )
