"""Exact geometric vectors: digits in base 256 that are independent of one another."""

from functools import lru_cache
from typing import Final

import numpy as np

from mechanisms.samplers.enclosures import Interval, Ratio, multiply, share, squared
from mechanisms.samplers.entropy import Entropy
from mechanisms.samplers.lazy_table import Cuts, LazyTable
from privacy.counts import IntArray

LARGEST: Final = 2**63 - 1
"""Draws beyond this are returned as this."""

_DIGIT_BITS = 8
_DIGITS = 1 << _DIGIT_BITS
_LAST = _DIGITS - 1
_FEWEST_DIGITS = 1  # below the leading one, which cannot overflow then
_MOST_DIGITS = 7  # the leading digit then reaches 2**63 by itself
_BLOCK = 1 << 16
_CACHED_LAWS = 128


class Geometric:
    """Draws G with ``P(G = n) = (1 - q) q**n``, n = 0, 1, ..., exactly.

    The digits of G are independent: each is geometric, cut off at 256, with the ratio q
    to the power of its place. The leading one is not cut off: its outcome 255 means
    255 or more, and begins anew, since a geometric number has no memory.

    Args:
        ratio: q, strictly between 0 and 1.

    Source: docs/proofs/vector_discrete_laplace.md.
    """

    def __init__(self, ratio: Ratio) -> None:
        digits = _low_digits(ratio)
        self._shift = _DIGIT_BITS * digits
        self._low = [
            LazyTable(_digit_cuts(ratio, _DIGIT_BITS * place))
            for place in range(digits)
        ]
        self._leading = LazyTable(_leading_cuts(ratio, self._shift))

    def draw(self, size: int, entropy: Entropy) -> IntArray:
        """Return ``size`` independent draws; those beyond 2**63 - 1 as that."""
        drawn = np.empty(size, dtype=np.int64)
        for start in range(0, size, _BLOCK):
            block = drawn[start : start + _BLOCK]
            block[:] = self._block(len(block), entropy)
        return drawn

    def _block(self, size: int, entropy: Entropy) -> IntArray:
        leading = self._draw_leading(size, entropy)
        beyond = leading > LARGEST >> self._shift
        drawn = leading << self._shift
        for place, table in enumerate(self._low):
            digit = table.draw(size, entropy).astype(np.int64)
            drawn |= digit << (_DIGIT_BITS * place)
        drawn[beyond] = LARGEST
        return drawn

    def _draw_leading(self, size: int, entropy: Entropy) -> IntArray:
        largest = LARGEST >> self._shift
        found = self._leading.draw(size, entropy).astype(np.int64)
        unfinished = np.flatnonzero(found == _LAST)
        while len(unfinished):
            more = self._leading.draw(len(unfinished), entropy)
            found[unfinished] += more
            goes_on = (more == _LAST) & (found[unfinished] <= largest)
            unfinished = unfinished[goes_on]
        return found


@lru_cache(_CACHED_LAWS)
def geometric_of(ratio: Ratio) -> Geometric:
    """Return the law of this ratio; its tables are kept for the next call."""
    return Geometric(ratio)


def whole(drawn: int, law: Geometric, entropy: Entropy) -> int:
    """Return a geometric number whole: what 64 bits cut off has no memory."""
    found = drawn
    while drawn == LARGEST:
        drawn = int(law.draw(1, entropy)[0])
        found += drawn
    return found


def _low_digits(ratio: Ratio) -> int:
    """Return how many digits leave the leading one seldom at 255; speed alone."""
    bits = 2 * _DIGITS
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        _, high = squared(ratio, _DIGIT_BITS * digits, bits)
        if 16 * high <= 15 << bits:
            return digits
    return _MOST_DIGITS


def _digit_cuts(ratio: Ratio, shift: int) -> Cuts:
    """Return the law on 0..255 in proportion to ``ratio ** (2**shift * digit)``."""

    def cuts(bits: int) -> list[Interval]:
        sums = [(0, 0)]
        for low, high in _powers(squared(ratio, shift, bits), _DIGITS, bits):
            sums.append((sums[-1][0] + low, sums[-1][1] + high))
        return [share(part, sums[-1], bits) for part in sums[1:-1]]

    return cuts


def _leading_cuts(ratio: Ratio, shift: int) -> Cuts:
    """Return the law of the leading digit, whose last outcome stands for the rest."""

    def cuts(bits: int) -> list[Interval]:
        one = 1 << bits
        powers = _powers(squared(ratio, shift, bits), _DIGITS, bits)
        return [(one - high, one - low) for low, high in powers[1:]]

    return cuts


def _powers(base: Interval, count: int, bits: int) -> list[Interval]:
    found = [(1 << bits, 1 << bits)]
    while len(found) < count:
        found.append(multiply(found[-1], base, bits))
    return found
