"""What measurements of vectors give, and the sum that none can overflow."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mechanisms.scales.noises import LAPLACE, Noise
from privacy.counts import IntArray
from privacy.sealed import SATURATION

LARGEST_VALUE: Final = SATURATION - 1
"""Noisy values beyond this, on either side, are given as this."""


@dataclass(frozen=True, slots=True)
class NoisyCounts:
    """A vector with noise.

    Attributes:
        values: Signed, as drawn; in steps of the grid.
        scale: Of the noise, in steps of the grid.
        noise: Its kind.
    """

    values: IntArray
    scale: float
    noise: Noise = LAPLACE


@dataclass(frozen=True, slots=True)
class NoisySparse:
    """The cells whose noisy count reaches a threshold, and those counts.

    Attributes:
        cells: Flat cell numbers, ascending.
        values: One a cell, each at least the threshold.
        scale: Of the noise, in units or rows.
        noise: Its kind.
    """

    cells: IntArray
    values: IntArray
    scale: float
    noise: Noise = LAPLACE


def saturating_sum(values: IntArray, noise: IntArray) -> IntArray:
    """Return values, saturated at 2**62, plus noise, saturated at 2**62 - 1.

    Noise that 64 bits could not hold may be given as their end: the sum is the same.
    """
    exact = np.clip(values, -SATURATION, SATURATION)
    return exact + np.clip(noise, -LARGEST_VALUE - exact, LARGEST_VALUE - exact)
