"""How likely noise moves cells further than it may: upper bounds, in float64."""

import math
from typing import Final

_SPARE: Final = 1e-9
"""Relatively more than float64 may be wrong by, in one chance."""

_SUM_SPARE: Final = 1e-6
"""Likewise in a sum of many: logarithms of factorials of 100,000 have ten digits."""


def beyond(scale: float, width: int) -> float:
    r"""Return at least P(\|noise\| > width) of discrete Laplace noise.

    Args:
        scale: In grid steps, positive.
        width: In grid steps, at least 0.

    Source: docs/proofs/discrete_laplace.md.

    >>> 0.0472 < beyond(10.0, 30) < 0.0474
    True
    """
    probability = 2 * math.exp(-(width + 1) / scale) / (1 + math.exp(-1 / scale))
    return min(1.0, probability * (1 + _SPARE))


def probability_of_more(cells: int, probability: float, allowed: int) -> float:
    """Return at least the chance that more than ``allowed`` of independent cells miss.

    Args:
        cells: How many there are, at least 1.
        probability: Of a miss, the mean of theirs; below 1.
        allowed: How many may.

    Cells whose chances differ miss no more often than equal ones, where at most
    ``allowed`` misses are expected; where more are, 1 is returned. Of none that may
    miss, the chances are added up.

    Source: Hoeffding 1956; docs/proofs/accuracy.md.

    >>> round(probability_of_more(2, 0.5, 1), 4)
    0.25
    """
    if allowed >= cells or probability == 0:
        return 0.0
    if allowed == 0:
        return min(1.0, cells * probability * (1 + _SUM_SPARE))
    if probability >= 1 or probability * cells > allowed:
        return 1.0
    log_odds = math.log(probability) - math.log1p(-probability)
    missing = allowed + 1
    log_term = _log_choices(cells, missing) + cells * math.log1p(-probability)
    term = math.exp(log_term + missing * log_odds)
    found = 0.0
    while missing <= cells and term > found * _SPARE / cells:  # later ones are less
        found += term
        term *= math.exp(log_odds) * (cells - missing) / (missing + 1)
        missing += 1
    return min(1.0, found * (1 + _SUM_SPARE))


def _log_choices(cells: int, missing: int) -> float:
    rest = cells - missing
    return math.lgamma(cells + 1) - math.lgamma(missing + 1) - math.lgamma(rest + 1)
