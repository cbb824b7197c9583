"""Draws from a finite law by its exact cumulative probabilities; ties are refined."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.samplers.enclosures import Interval, narrowed
from mechanisms.samplers.entropy import Entropy, integers, short_words
from privacy.counts import IntArray

Cuts = Callable[[int], list[Interval]]
"""Encloses the cumulative probabilities of all outcomes but the last, ascending."""

SmallArray = NDArray[np.int16]

FIRST_BITS: Final = 16
NEXT_BITS: Final = 46
_KNOWN_BITS = FIRST_BITS + NEXT_BITS  # cuts up to 2**62 fit into 64 bits
_MORE_BITS = 64


class LazyTable:
    """An exact sampler of a law on 0..n-1: inversion, with as many bits as it takes.

    A uniform number U is read bit by bit, and the outcome is how many cumulative
    probabilities lie at or below U. 16 bits settle most draws by a look-up; where a
    probability lies so near that they do not, 46 more are read, and then 64 at a time
    for ever.

    Args:
        cuts: Encloses the cumulative probabilities; at most 32,766 of them.

    Source: docs/proofs/vector_discrete_laplace.md.
    """

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        known = narrowed(cuts, _KNOWN_BITS)
        self._low = np.array([low for low, _ in known], dtype=np.int64)
        self._high = np.array([high for _, high in known], dtype=np.int64)
        passed, begun = _count(
            self._low >> NEXT_BITS,
            -(-self._high >> NEXT_BITS),
            np.arange(1 << FIRST_BITS),
        )
        self._guide = np.where(passed == begun, passed, -1).astype(np.int16)

    def draw(self, size: int, entropy: Entropy) -> SmallArray:
        """Return ``size`` independent outcomes."""
        first = short_words(entropy, size)
        found = self._guide[first]
        tied = np.flatnonzero(found < 0)
        if len(tied):
            found[tied] = self._settle(first[tied], entropy)
        return found

    def _settle(self, first: NDArray[np.uint16], entropy: Entropy) -> IntArray:
        longer = first.astype(np.int64) << NEXT_BITS
        longer |= integers(entropy, len(first), NEXT_BITS)
        passed, begun = _count(self._low, self._high, longer)
        for place in np.flatnonzero(passed != begun):
            passed[place] = refine(
                self._cuts, entropy, known=int(longer[place]), bits=_KNOWN_BITS
            )
        return passed


def refine(cuts: Cuts, entropy: Entropy, *, known: int = 0, bits: int = 0) -> int:
    """Return one outcome, reading 64 more bits at a time until no cut is in doubt.

    Args:
        cuts: Encloses the cumulative probabilities of all outcomes but the last.
        entropy: Where the bits come from.
        known: The first bits of U, as an integer.
        bits: How many those are.
    """
    passed, begun = 0, 1
    while passed != begun:
        bits += _MORE_BITS
        known = known << _MORE_BITS | int.from_bytes(entropy(_MORE_BITS // 8))
        found = narrowed(cuts, bits)
        passed = bisect_right([high for _, high in found], known)
        begun = bisect_right([low for low, _ in found], known)
    return passed


def _count(low: IntArray, high: IntArray, known: IntArray) -> tuple[IntArray, IntArray]:
    """Return how many cuts lie surely at or below U, and how many may."""
    return (
        np.searchsorted(high, known, side="right"),
        np.searchsorted(low, known, side="right"),
    )
