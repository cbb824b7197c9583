"""Descriptions of what is about to be released: enough to price and to account."""

from dataclasses import dataclass
from fractions import Fraction

from privacy.losses import Loss
from privacy.measures import PURE, Measure


@dataclass(frozen=True, slots=True)
class VectorSensitivity:
    """How far one measured vector of counts moves between neighbours.

    Neighbouring relation: add or remove all rows of one unit. ``l2_squared`` is kept
    squared so that it stays an exact fraction.
    """

    l1: Fraction
    l2_squared: Fraction
    linf: Fraction


@dataclass(frozen=True, slots=True)
class MeasuredVector:
    """One vector draw of noise and what it spends.

    Attributes:
        sensitivity: In units of the column's grid (counts: rows or units).
        loss: This vector's part of the charge.
        scale: Noise scale, exact as ``Fraction(scale)``: of discrete Laplace noise
            where losses are pure, else the sigma of discrete Gaussian noise.
    """

    sensitivity: VectorSensitivity
    loss: Loss
    scale: float


@dataclass(frozen=True, slots=True)
class PriceEvent:
    """A priced request: vectors that together spend at most ``loss``.

    Attributes:
        loss: Of the whole request, in the population's measure.
        vectors: Of one kind of noise, the measure's own.
        measure: What the losses count.
    """

    loss: Loss
    vectors: tuple[MeasuredVector, ...]
    measure: Measure = PURE
