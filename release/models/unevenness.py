"""What may hide inside a bucket whose cells were measured together."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechanisms.half_widths import half_width
from release.models.contract import FloatArray, IntArray, Table
from release.models.intervals import CONFIDENCE


@dataclass(frozen=True, slots=True)
class Spread:
    """Noisy sums, a bucket, of the cells' distances from the bucket's mean.

    Attributes:
        values: As drawn.
        scale: Of the draws.
    """

    values: IntArray
    scale: float

    @classmethod
    def read(
        cls, facts: Mapping[str, object], tables: Mapping[str, Table]
    ) -> "Spread | None":
        """Return what a model wrote, if it measured any."""
        if facts.get("spread_scale") is None:
            return None
        values = np.asarray(tables["buckets"]["spread"], np.int64)
        return cls(values, float(str(facts["spread_scale"])))


def spread_bounds(
    most: FloatArray, parts: FloatArray, buckets: IntArray, spread: Spread | None
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the error of spreading a bucket evenly, and mean squares.

    Args:
        most: Upper ends of the buckets' counts.
        parts: Which part of each bucket's cells a question takes, below 1.
        buckets: Numbers of the buckets.
        spread: What was measured of them.

    With all of a count c in one cell, the error is at most max(f, 1 - f) c, and f
    (1 - f) c^2 in the mean square over where that cell lies. The sum of a part of a
    bucket errs by at most half the sum of all distances from the mean.
    """
    bounds = np.maximum(parts, 1 - parts) * most
    squares = parts * (1 - parts) * most * most
    if spread is None:
        return bounds, squares
    noise = half_width(spread.scale, CONFIDENCE)
    half = (np.maximum(spread.values[buckets], 0) + noise) / 2
    return np.minimum(bounds, half), np.minimum(squares, half * half)
