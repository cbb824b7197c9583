"""What may hide inside a bucket whose cells were measured together."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from release.contract.intervals import noise_variance, weighted_half_widths
from release.contract.models import FloatArray, IntArray, Table
from release.cubes.models.parts.levels import family_sums
from release.cubes.models.parts.parts import Parts


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


def spread_bounds(cut: Parts, groups: int, spread: Spread | None) -> FloatArray | None:
    """Return 95 % bounds of how far sums are from those of an even spread.

    The sum of a part of a bucket errs by at most half the sum of all distances from
    the mean; a weighted one by that times the range of the weights.

    Args:
        cut: What each group takes of the buckets that it cuts.
        groups: How many groups there are.
        spread: What was measured of the buckets, if anything.
    """
    if spread is None:
        return None
    half = (cut.most - cut.least) / 2
    apart = family_sums(cut.groups, half * spread.values[cut.nodes], groups)
    variance = noise_variance(spread.scale)
    errors = family_sums(cut.groups, np.square(half) * variance, groups)
    loads = np.zeros(groups)
    np.maximum.at(loads, cut.groups, half)
    return np.maximum(apart, 0.0) + weighted_half_widths(errors, loads)
