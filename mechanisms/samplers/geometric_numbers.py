"""Exact geometric vectors of any scale, without tables of their own.

An exponential number has no scale: floor(scale * E) is geometric, whatever the scale.
So one law's tables serve all, where ``geometric_of`` would make new ones, which takes
milliseconds, for each scale.
"""

from fractions import Fraction
from math import floor
from os import urandom
from typing import Final

import numpy as np

from mechanisms.samplers.enclosures import Decay
from mechanisms.samplers.entropy import Entropy
from mechanisms.samplers.gaussian import RestOfExponential
from mechanisms.samplers.geometric import LARGEST, Geometric, geometric_of, whole
from mechanisms.samplers.trials import succeeds
from privacy.counts import IntArray

MAX_SCALE: Final = Fraction(2**46)
"""Largest scale; half of it would do for every scale of a mechanism."""

_PLACES: Final = 48
_ONE: Final = 1 << _PLACES
_SLACK: Final = 2.0**-49  # more than twice what three float64 roundings can be wrong by


def geometric_numbers(size: int, scale: Fraction, entropy: Entropy) -> IntArray:
    """Return ``size`` draws of G, ``P(G >= n) = exp(-n / scale)``, n = 0, 1, ...

    What lies beyond 63 bits is returned as their end.

    Args:
        size: How many independent draws.
        scale: Above 0, up to ``MAX_SCALE``.
        entropy: Where the bits come from.

    Raises:
        ValueError: The scale is out of range.

    Source: docs/proofs/refining.md.
    """
    if not 0 < scale <= MAX_SCALE:
        message = f"a scale lies above 0 and up to 2**46, not {scale}"
        raise ValueError(message)
    known = _exponentials().draw(size, entropy)
    step = float(scale / _ONE)
    near = known.astype(np.float64) * step
    slack = (near + 1) * _SLACK
    lowest, highest = np.floor(near - slack), np.floor(near + step + slack)
    in_doubt = (lowest != highest) | (known == LARGEST)
    found = np.where(in_doubt, 0.0, lowest).astype(np.int64)
    for place in np.flatnonzero(in_doubt):
        found[place] = _settled(int(known[place]), scale, entropy)
    return found


def make_tables() -> None:
    """Make the tables that all scales share, so that no answer waits for them."""
    geometric_numbers(1, Fraction(1), urandom)


def _exponentials() -> Geometric:
    return geometric_of(Decay(Fraction(_ONE)))


def _settled(known: int, scale: Fraction, entropy: Entropy) -> int:
    """Return floor(scale * E), by fractions alone, of E cut to its first places."""
    known = whole(known, _exponentials(), entropy)
    found = floor(scale * known / _ONE)
    reached = (found + 1) * _ONE / scale - known
    if reached < 1 and succeeds(RestOfExponential(reached, _PLACES), entropy):
        found += 1  # a step is a quarter at most: there is no other end in it
    return min(found, LARGEST)
