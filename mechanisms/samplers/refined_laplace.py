"""Finer discrete Laplace noise, given the coarser noise that was shown with it.

Discrete Laplace noise of a greater scale is that of a lesser one with more noise added
(Koufogiannis, Han and Pappas 2015, for real numbers). So whoever showed the sum can
draw the finer noise from its law given the sum: both together tell as much as the
finer one alone.
"""

from collections.abc import Sequence
from fractions import Fraction
from os import urandom
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.samplers.entropy import Entropy
from mechanisms.samplers.geometric_numbers import geometric_numbers
from privacy.counts import IntArray
from privacy.sealed import SATURATION

LEAST_GAIN: Final = Fraction(21, 20)
"""Of the coarser scale over the finer one: below it draws would take long."""


def refined_laplace(
    noise: IntArray, coarse: Fraction, fine: Fraction, entropy: Entropy
) -> IntArray:
    """Return noise of a finer scale, each given the coarser noise that contains it.

    Args:
        noise: Discrete Laplace draws at the coarser scale, within 2**62.
        coarse: Their scale, in grid steps.
        fine: The scale of what is returned; ``coarse / fine`` is at least
            ``LEAST_GAIN``.
        entropy: Where the bits come from.

    Raises:
        ValueError: The scales lie too near to each other.

    Source: docs/proofs/refining.md.
    """
    if not 0 < fine * LEAST_GAIN <= coarse:
        message = f"scale {fine} gains less than a twentieth over {coarse}"
        raise ValueError(message)
    law = _Law(coarse, fine, entropy)
    distances = np.abs(noise)
    drawn = distances.copy()
    left = np.flatnonzero(~law.stays(distances))
    while len(left):
        proposed, kept = law.proposed(distances[left])
        drawn[left[kept]] = proposed[kept]
        left = left[~kept]
    return np.where(noise < 0, -drawn, drawn)


def refined_values(
    values: Sequence[int], shown: Sequence[int], coarse: Fraction, fine: Fraction
) -> list[int]:
    """Return exact values with finer noise than the one they were shown with.

    Args:
        values: Exact integers, taken as saturated at 2**62.
        shown: The same with discrete Laplace noise of the coarser scale.
        coarse: That scale.
        fine: Of what is returned.
    """
    exact = [max(-SATURATION, min(SATURATION, value)) for value in values]
    noise = [_within(n - value) for n, value in zip(shown, exact, strict=True)]
    found = refined_laplace(np.array(noise, dtype=np.int64), coarse, fine, urandom)
    return [value + n for value, n in zip(exact, found.tolist(), strict=True)]


def _within(noise: int) -> int:
    """Saturate: noise that lies beyond was never drawn at a scale that is allowed."""
    return max(-SATURATION, min(SATURATION, noise))


class _Law:
    """The law of finer noise, by the distance m of the coarser one from 0.

    With ``a = exp(-1/coarse)``, ``b = exp(-1/fine)`` and ``r = b/a`` the finer noise is
    m itself with probability ``r**(m+1) (1 - a*a) / (1 - b*b)``, and else j with
    probabilities in proportion to ``b**|j| a**|m-j|``.
    """

    def __init__(self, coarse: Fraction, fine: Fraction, entropy: Entropy) -> None:
        self._coarse, self._entropy = coarse, entropy
        self._gained = 1 / (1 / fine - 1 / coarse)  # r is exp(-1/gained)
        self._both = 1 / (1 / fine + 1 / coarse)  # a*b is exp(-1/both)

    def stays(self, distances: IntArray) -> NDArray[np.bool_]:
        """Return which noise is as it was."""
        many = len(distances)
        reaches = self._draw(many, self._gained) > distances
        ends = self._draw(many, self._coarse) // 2  # geometric of a*a
        return reaches & (ends <= self._draw(many, self._gained) // 2)

    def proposed(self, distances: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return finer noise for that which moved, and which of it is kept.

        At or above 0 it is proposed by powers of r, which beyond m are too many by
        powers of a*a; below 0 by those of a*b, which is its law.
        """
        many = len(distances)
        above = self._draw(many, self._both) <= self._draw(many, self._gained)
        up, down = self._draw(many, self._gained), self._draw(many, self._both)
        beyond = np.maximum(up - distances, 0)
        kept = self._draw(many, self._coarse) // 2 >= beyond
        return np.where(above, up, -1 - down), kept | ~above

    def _draw(self, many: int, scale: Fraction) -> IntArray:
        return geometric_numbers(many, scale, self._entropy)
