"""Censoring utility loss: which part of a record's codes was censored.

Source: Tamersoy 2011, section III.6, tables 1 and 2.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.gccens.censoring import Censored

Losses = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """How losses are distributed over the records.

    Attributes:
        mean: From 0 to 1, as all but skewness.
        standard_deviation: Of the records as a whole population.
        median: Half of the records lose no more.
        skewness: Third standardised moment; 0 where all lose the same.
        changed: Which part of the records lost anything.
    """

    mean: float
    standard_deviation: float
    median: float
    skewness: float
    changed: float


def utility_losses(
    censored: Censored, of: Literal["original", "capped"] = "original"
) -> Losses:
    """Return CUL by record: censored codes by all codes, 0 for an empty record.

    Args:
        censored: What was done.
        of: Against the records as they came, or as the caps left them. The thesis'
            tables seem to mean the latter: its records have 12 codes on average, of
            which a cap of 3 alone censors more than the .046 that it prints.
    """
    before = censored.original if of == "original" else censored.capped
    whole = before.sum(axis=1)
    lost = whole - censored.released.sum(axis=1)
    return np.asarray(lost / np.maximum(1, whole))


def spread_of(losses: Losses) -> Spread:
    """Return mean, standard deviation, median and skewness of losses by record.

    Raises:
        ValueError: There is no record.
    """
    if not len(losses):
        message = "there is no record"
        raise ValueError(message)
    mean, deviation = float(losses.mean()), float(losses.std())
    third = float(((losses - mean) ** 3).mean())
    return Spread(
        mean,
        deviation,
        float(np.median(losses)),
        third / deviation**3 if deviation else 0.0,
        float((losses > 0).mean()),
    )
