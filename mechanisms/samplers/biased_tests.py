"""PrivTree's tests: which nodes to cut, for one loss however deep the tree grows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.errors import UnpaidMeasurementError
from privacy.counts import IntArray
from privacy.sealed import SATURATION, Exact

Noise = Callable[[int], IntArray]
"""Draws a vector of discrete Laplace noise at the tests' own scale."""

MAX_DEPTH: Final = 2**10
"""No tree of tests goes deeper."""

_PRECISION = 60
_FAR_MORE_THAN_ROUNDING = Decimal("1e-50")


@dataclass(slots=True)
class BiasedTests:
    """Tests the counts of a tree's nodes, level by level, from the root down.

    A node at depth d with count c is cut when ``max(c - d * delta, -delta)`` plus noise
    is above 0. Who calls it cuts a tree: the nodes of one call hold disjoint sets of
    cells, and each but the root's lies inside a node that was cut in a call before.

    Attributes:
        delta: What each further level takes off a count; an integer.
        scale: Of the discrete Laplace noise, in units or rows.

    Neighbouring relation: add or remove all rows of one unit.
    Source: Zhang, Xiao and Xie 2016 (PrivTree); proof for integer noise in
    docs/proofs/privtree.md.
    """

    delta: int
    scale: float
    _noise: Noise
    _deepest: int = -1

    def cuts(
        self, sealed_counts: Exact[IntArray], depths: IntArray
    ) -> NDArray[np.bool_]:
        """Return which nodes to cut.

        Args:
            sealed_counts: One count a node.
            depths: One depth a node; the root's is 0. All deeper than in any call
                before.

        Raises:
            UnpaidMeasurementError: A depth was tested before, or is out of range: the
                proof does not hold. The seal stays closed.
        """
        if not len(depths):
            return np.zeros(0, dtype=np.bool_)
        if not self._deepest < depths.min() <= depths.max() <= MAX_DEPTH:
            raise UnpaidMeasurementError
        self._deepest = int(depths.max())
        counts = np.clip(sealed_counts.unseal(), -SATURATION, SATURATION)
        biased = np.maximum(counts - depths * self.delta, -self.delta)
        return np.asarray(self._noise(len(depths)) > -biased)


def path_factor(fanout: int) -> Fraction:
    """Return how many times ``1 / scale`` all tests of a path spend together.

    Args:
        fanout: The b of ``delta_of``, at least 2.

    Returns:
        ``(2 b - 1) / (b - 1)``.
    """
    if fanout < 2:  # noqa: PLR2004 - a node that is cut has at least two children
        message = f"a fanout is at least 2, not {fanout}"
        raise ValueError(message)
    return Fraction(2 * fanout - 1, fanout - 1)


def delta_of(scale: float, fanout: int) -> int:
    """Return an integer at or above ``scale * ln(fanout)``, almost always the least."""
    with localcontext(Context(prec=_PRECISION)):
        near = Decimal(scale) * Decimal(fanout).ln()
        return math.ceil(near + near * _FAR_MORE_THAN_ROUNDING)
