"""How often noise moves an average too far: an upper bound, whatever the values are.

An average is a noisy sum by a noisy count, clamped to what a value can be. Proof:
docs/proofs/accuracy.md, claim 3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.scales.sum_tails import SumLaw

Draws = Sequence[tuple[Fraction, float]]
"""Independent draws of which a number's noise is made: weight and scale of each."""

_SPARE: Final = 1e-9
"""Relatively more than float64 may be wrong by."""


@dataclass(frozen=True, slots=True)
class NearAverage:
    """How near an average is to be to the exact one.

    Attributes:
        greatest: The largest size that a value can have, in steps of the sum's grid.
        within: How far the average may be moved, in the same steps; positive.
        rows: How many values that are not NULL its cell has at least.
    """

    greatest: int
    within: Fraction
    rows: int

    @property
    def lever(self) -> Fraction:
        """How far one value too many in the count moves the sum that fits it."""
        return self.greatest + self.within

    @property
    def is_possible(self) -> bool:
        """Whether noise of a step or less in either number could keep to it."""
        return self.rows >= self.fewest_rows

    @property
    def fewest_rows(self) -> int:
        """The least number of values with which that is possible."""
        return math.floor((1 + self.lever) / self.within) + 1


def average_beyond(
    near: NearAverage,
    draws: tuple[Draws, Draws],
    law: SumLaw,
    *,
    miss: float,
    rounded: Fraction = Fraction(0),
) -> float:
    """Return at least the probability that an average is moved too far, or is NULL.

    Args:
        near: How far it may be moved.
        draws: The noise of the sum, in steps of its grid, and that of the count.
        law: Of all draws; they are independent.
        miss: Numerical errors add at most a hundredth of it or so.
        rounded: How far rounding moves the sum and the count beside, in steps.

    Source: docs/proofs/accuracy.md.
    """
    moved = near.within * near.rows - rounded * (1 + near.lever)
    if moved <= 0:
        return 1.0
    of_sum, of_count = draws
    weighed = [*of_sum, *((near.lever * weight, scale) for weight, scale in of_count)]
    weights = np.array([[float(weight)] for weight, _ in weighed]) * (1 + _SPARE)
    scales = np.array([[scale] for _, scale in weighed])
    reached = np.array([float(moved)]) * (1 - _SPARE)
    found = law.tails(weights, scales, np.ones_like(scales), reached, miss)
    return min(1.0, float(found[0]) * (1 + _SPARE))
