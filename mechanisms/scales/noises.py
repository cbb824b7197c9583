"""The two kinds of noise, one a measure: what a scale costs and how far draws reach.

Prices, searches and replies are alike for both. Different are how far a unit moves a
vector (L1, or L2 squared), what a scale spends, and the tails
(docs/proofs/discrete_laplace.md and docs/proofs/discrete_gaussian.md).
"""

import math
from fractions import Fraction
from typing import Final, Protocol

from mechanisms.scales import half_widths, misses
from mechanisms.scales.calibration import MAX_SCALE, laplace_scale
from mechanisms.scales.gaussian.calibration import gaussian_scale
from mechanisms.scales.gaussian.half_widths import gaussian_beyond, gaussian_half_width
from mechanisms.scales.sum_tails import GAUSSIAN_SUMS, LAPLACE_SUMS, SumLaw
from privacy.events import VectorSensitivity
from privacy.losses import Loss
from privacy.measures import Measure


class Noise(Protocol):
    """A kind of integer noise; scales and widths are in steps of a column's grid."""

    @property
    def mechanism(self) -> str:
        """What replies call it."""

    @property
    def has_l2(self) -> bool:
        """Whether its scale follows from the L2 sensitivity."""

    def scale(self, sensitivity: VectorSensitivity, loss: Loss) -> float:
        """Return the least scale that spends at most ``loss`` of the measure.

        Raises:
            InvalidLossError: The loss is zero, or needs a scale beyond 2**40.

        Neighbouring relation: add or remove all rows of one unit.
        """

    def half_width(self, scale: float, confidence: Fraction) -> int:
        r"""Return the least w with P(\|noise\| <= w) at least a confidence."""

    def beyond(self, scale: float, width: int) -> float:
        r"""Return at least P(\|noise\| > width)."""

    def loss_guess(
        self, sensitivity: VectorSensitivity, width: int, confidence: Fraction
    ) -> Fraction:
        """Return about the loss whose half-width is ``width``; it proves nothing."""

    def variance(self, scale: float) -> float:
        """Return about the variance of one draw; it proves nothing."""

    @property
    def sums(self) -> SumLaw:
        """How far weighted sums of it reach."""


class LaplaceNoise:
    """Discrete Laplace noise: epsilon of pure differential privacy, by L1."""

    mechanism: Final = "discrete_laplace"
    has_l2: Final = False
    sums: Final = LAPLACE_SUMS

    def scale(self, sensitivity: VectorSensitivity, loss: Loss) -> float:
        """Return the least scale that spends at most ``loss``."""
        return laplace_scale(sensitivity.l1, loss)

    def half_width(self, scale: float, confidence: Fraction) -> int:
        """Return the half-width of one draw."""
        return half_widths.half_width(scale, confidence)

    def beyond(self, scale: float, width: int) -> float:
        r"""Return at least P(\|noise\| > width)."""
        return misses.beyond(scale, width)

    def loss_guess(
        self, sensitivity: VectorSensitivity, width: int, confidence: Fraction
    ) -> Fraction:
        """Return about the loss whose half-width is ``width``."""
        estimate = half_widths.scale_estimate(width, confidence)
        return sensitivity.l1 / Fraction(min(estimate, MAX_SCALE))

    def variance(self, scale: float) -> float:
        """Return about the variance of one draw."""
        return 2 * scale**2


class GaussianNoise:
    """Discrete Gaussian noise: rho of zCDP, by L2 squared; its scale is sigma."""

    mechanism: Final = "discrete_gaussian"
    has_l2: Final = True
    sums: Final = GAUSSIAN_SUMS

    def scale(self, sensitivity: VectorSensitivity, loss: Loss) -> float:
        """Return the least sigma that spends at most ``loss``."""
        return gaussian_scale(sensitivity.l2_squared, loss)

    def half_width(self, scale: float, confidence: Fraction) -> int:
        """Return the half-width of one draw."""
        return gaussian_half_width(scale, confidence)

    def beyond(self, scale: float, width: int) -> float:
        r"""Return at least P(\|noise\| > width)."""
        return gaussian_beyond(scale, width)

    def loss_guess(
        self, sensitivity: VectorSensitivity, width: int, confidence: Fraction
    ) -> Fraction:
        """Return about the loss whose half-width is ``width``."""
        quantiles = math.sqrt(2 * math.log(1 / float(1 - confidence)))
        sigma = min((width + 0.5) / max(quantiles, 0.1), MAX_SCALE)
        return sensitivity.l2_squared / Fraction(2 * sigma**2)

    def variance(self, scale: float) -> float:
        """Return about the variance of one draw."""
        return scale**2


LAPLACE: Final = LaplaceNoise()
GAUSSIAN: Final = GaussianNoise()


def moved_by(l1: int, l2_squared: int | None = None) -> VectorSensitivity:
    """Return how far a vector of whole counts moves.

    Args:
        l1: In L1.
        l2_squared: In L2, squared, where less than ``l1`` squared is proved: a vector
            that moves in one entry alone moves as far in L2 as in L1.

    Neighbouring relation: add or remove all rows of one unit.
    """
    squared = l1 * l1 if l2_squared is None else l2_squared
    return VectorSensitivity(Fraction(l1), Fraction(squared), Fraction(l1))


def noise_of_measure(measure: Measure) -> Noise:
    """Return the kind of noise that a population's answers have."""
    return LAPLACE if measure.is_pure else GAUSSIAN
