"""What sums of a tree's nodes say: an interval for each, by one rule for all questions.

Answers to SQL add up nodes group by group, branches of a tree the nodes of one path:
how far such sums may be off is told here alone.
"""

from dataclasses import dataclass

import numpy as np

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray
from release.sequences.questions.levels import LevelledTree


@dataclass(frozen=True, slots=True)
class Sums:
    """What is added up, one number a group.

    Attributes:
        values: Estimated units that are there for sure.
        variances: Squared errors of ``values``.
        doubted: How much less ``values`` may be, if what noise alone may have made is
            nothing.
        undecided: Estimated units that may be there.
        spread: Squared errors of these, beside the ``variances``.
        shared: Squared errors of ``values`` that come from how many units there are.
        reached: Likewise of ``values`` and ``undecided`` together.
        held_back: How much noise that was kept beside may have taken from them.
        mosts: How many units there may be at the most, if that is more, whatever was
            predicted of them.
    """

    values: FloatArray
    variances: FloatArray
    doubted: FloatArray
    undecided: FloatArray
    spread: FloatArray
    shared: FloatArray
    reached: FloatArray
    held_back: FloatArray
    mosts: FloatArray


@dataclass(frozen=True, slots=True)
class Counts:
    """One number a group, C order over the keys.

    Attributes:
        values: Estimated units that match for sure, or places in their sequences.
        half_widths: 95 % half-widths of ``values``.
        doubts: How much less ``values`` may be than that, since noise chose what is
            added up.
        undecided: Estimated units, or places, of which the tree does not say whether
            they match (or in which group): pruned, or past what was looked at.
        reach: 95 % half-widths of ``values`` and ``undecided`` together.
        spare: How much more ``values`` may be than that, since other numbers that they
            were made to agree with drew them down.
    """

    values: FloatArray
    half_widths: FloatArray
    doubts: FloatArray
    undecided: FloatArray
    reach: FloatArray
    spare: FloatArray


def told(tree: LevelledTree, sums: Sums) -> Counts:
    """Return what is told of sums: none reaches beyond all units for what it lacks."""
    values, undecided = sums.values, sums.undecided
    room = everybody(tree) - values
    half_widths = _half_width(np.maximum(sums.variances, sums.shared))
    half_widths = np.minimum(half_widths, np.maximum(room, values))
    reach = _half_width(np.maximum(sums.variances + sums.spread, sums.reached))
    reach = np.minimum(reach, np.maximum(room - undecided, 0))
    left = room - undecided - reach
    more = np.maximum(sums.held_back, sums.mosts - values - undecided - reach)
    return Counts(
        values,
        half_widths,
        further(values, half_widths, sums.doubted),
        undecided,
        reach,
        np.clip(left, 0, more),
    )


def further(
    values: FloatArray, half_widths: FloatArray, doubted: FloatArray
) -> FloatArray:
    """Return by how much more than their half-widths values may be too high."""
    return np.maximum(np.minimum(doubted, values) - half_widths, 0)


def everybody(tree: LevelledTree) -> float:
    """Return how many units there are at the most: no group holds more."""
    spread = WEIGHTED_QUANTILE * deviation_of_all(tree, mixed=True)
    return float(tree.counts[tree.roots].sum() + spread)


def deviation_of_all(tree: LevelledTree, *, mixed: bool) -> float:
    """Return how far off the number of all units is, over all values of a split.

    One threshold has hidden first symbols of every value: what is taken for these leans
    the same way in all, so deviations are added, not squares, unless noisy lengths are
    surer; where first symbols are told apart, that is no matter. A chain of n-grams
    has read these, and its errors lean in part.
    """
    variances = tree.variances[tree.roots]
    apart = float(np.sqrt(variances.sum()))
    if tree.lean or not mixed:
        return apart
    together = float(np.sqrt(variances).sum())
    if tree.total_width is not None:
        together = min(together, tree.total_width / WEIGHTED_QUANTILE)
    return max(apart, together)


def of_everybody(
    tree: LevelledTree, values: FloatArray, leaves: float, *, mixed: bool
) -> FloatArray:
    """Return the squared error of counts that comes from how many units there are.

    Counts are parts of that number: where it is off, all of them are by their share.

    Args:
        tree: Whose counts.
        values: One a group.
        leaves: The share of the units that may be missed that is in each, besides.
        mixed: Whether what was hidden of first symbols may all be in one group.
    """
    every = float(tree.counts[tree.roots].sum())
    deviation = deviation_of_all(tree, mixed=mixed)
    shares = (values + leaves * deviation) / max(every + deviation, 1e-9)
    return np.asarray(np.square(np.minimum(shares, 1) * deviation))


def leaning(lean: float, variances: FloatArray, deviations: FloatArray) -> FloatArray:
    """Return squared errors of sums whose parts' errors lean the same way in part.

    Args:
        lean: How far, from 0 to 1.
        variances: Sums of the parts' variances.
        deviations: Sums of their standard deviations.
    """
    return np.asarray((1 - lean) * variances + lean * np.square(deviations))


def _half_width(variances: FloatArray) -> FloatArray:
    return np.asarray(WEIGHTED_QUANTILE * np.sqrt(variances))
