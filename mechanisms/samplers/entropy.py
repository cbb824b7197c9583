"""Random bits as arrays; in production the operating system's, never a generator's."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from privacy.counts import IntArray

Entropy = Callable[[int], bytes]
"""Gives so many independent, uniform bytes; ``os.urandom`` in all that is shipped."""

_WORD_BITS = 64


def short_words(entropy: Entropy, size: int) -> NDArray[np.uint16]:
    """Return ``size`` independent uniform 16-bit integers."""
    return np.frombuffer(entropy(2 * size), dtype=np.uint16)


def integers(entropy: Entropy, size: int, bits: int) -> IntArray:
    """Return ``size`` independent uniform integers of 0 to 63 bits."""
    if bits == 0:
        return np.zeros(size, dtype=np.int64)
    words = np.frombuffer(entropy(8 * size), dtype=np.uint64)
    return (words >> np.uint64(_WORD_BITS - bits)).astype(np.int64)


def integers_below(entropy: Entropy, size: int, bound: int) -> IntArray:
    """Return at most ``size`` independent uniform integers of 0..bound-1.

    Integers of as many bits as ``bound - 1`` has, of which those in range are kept:
    each that is kept is uniform, and on average more than half are.

    Args:
        entropy: Where the bits come from.
        size: How many to try.
        bound: From 1 to 2**62.
    """
    tried = integers(entropy, size, (bound - 1).bit_length())
    return tried[tried < bound]
