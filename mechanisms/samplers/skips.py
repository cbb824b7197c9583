"""Which of very many cells pass a test of small probability, without visiting them."""

import math

import numpy as np

from mechanisms.samplers.enclosures import Complement, Ratio
from mechanisms.samplers.entropy import Entropy
from mechanisms.samplers.geometric import geometric_of
from privacy.counts import IntArray

_LARGEST_SUM = 2**62
_MOST_AT_ONCE = 1 << 20
_BITS = 96


def skip(cells: int, probability: Ratio, entropy: Entropy) -> IntArray:
    """Return the places of 0..cells-1 that pass, each with this probability, ascending.

    The failures before the next pass are geometric, so runs of them are drawn whole.

    Args:
        cells: How many there are, from 0 to 2**61.
        probability: Of each cell to pass, independent of the others.
        entropy: Where the bits come from.

    Source: docs/proofs/sparse_counts.md.
    """
    failures = geometric_of(Complement(probability))
    at_once = _at_once(cells, probability)
    found, last = [np.empty(0, dtype=np.int64)], -1
    while last < cells:
        steps = np.minimum(failures.draw(at_once, entropy), cells) + 1
        places = last + np.cumsum(steps)
        last = int(places[-1])
        found.append(places)
    places = np.concatenate(found)
    return places[: np.searchsorted(places, cells)]


def _at_once(cells: int, probability: Ratio) -> int:
    """Return how many steps to draw together: about all, and no sum overflows."""
    _, high = probability.enclose(_BITS)
    mean = (cells * high >> _BITS) + 1
    likely = mean + 6 * math.isqrt(mean) + 8
    return max(1, min(likely, _MOST_AT_ONCE, _LARGEST_SUM // (cells + 2)))
