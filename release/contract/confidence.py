"""Half-widths at other confidences than 95 %, never too small."""

import math
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from release.contract.intervals import STEP
from release.contract.models import FloatArray

_GIVEN: Final = 0.95


def widening(confidence: float) -> float:
    """Return what a 95 % half-width is multiplied with for another confidence.

    The error of an estimate lies between one Laplace draw and a normal variable: the
    greater of their two factors is taken. Proof: docs/proofs/half_widths_of_sums.md.

    Args:
        confidence: Strictly between 0 and 1.

    Raises:
        ValueError: It is not.

    >>> widening(0.95)
    1.0
    """
    if not 0 < confidence < 1:
        raise ValueError(confidence)
    if confidence == _GIVEN:
        return 1.0
    laplace = math.log1p(-confidence) / math.log1p(-_GIVEN)
    normal = _normal(confidence) / _normal(_GIVEN)
    return max(laplace, normal)


def widened(half_width: float | FloatArray, factor: float, step: float = 1.0) -> Any:  # noqa: ANN401 - a float or an array, as it was given
    """Return a 95 % half-width at another confidence.

    What a lattice law needs beside its deviation does not shrink with it: a factor
    below 1 leaves that as it is.

    Args:
        half_width: One, or an array of them.
        factor: As ``widening`` gives it.
        step: By which the errors move, in the half-width's unit.

    >>> float(widened(10.0, 2.0)), round(float(widened(10.0, 0.5)), 3)
    (20.0, 5.275)
    """
    kept = np.minimum(half_width, STEP * step) * max(0.0, 1 - factor)
    return factor * half_width + kept


def shared(ends: int) -> float:
    """Return what 95 % half-widths are multiplied with to hold at once, 95 in 100.

    Each of ``ends`` may take a share of the twentieth (Bonferroni), whatever errors
    they share.
    """
    return widening(1 - (1 - _GIVEN) / ends) if ends > 1 else 1.0


def selected_confidence(confidence: float, shown: int, cells: int) -> float:
    """Return the confidence at which intervals of chosen rows are made.

    Of rows that were chosen by their estimates, the expected share whose interval
    misses the truth is then at most 1 - ``confidence``, whatever the choice.

    Args:
        confidence: That each interval is to have.
        shown: How many rows were chosen; at least one is counted.
        cells: Of how many.

    Source: Benjamini and Yekutieli 2005; docs/proofs/half_widths_of_sums.md.

    >>> round(selected_confidence(0.95, 10, 100), 6)
    0.995
    """
    return 1 - (1 - confidence) * max(1, shown) / cells


def _normal(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
