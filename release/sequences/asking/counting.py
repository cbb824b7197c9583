"""Counts of units from a tree, group by group, with what could not be decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from release.models.contract import FloatArray, IntArray
from release.models.intervals import WEIGHTED_QUANTILE
from release.sequences.asking.levels import BoolArray, LevelledTree
from release.sequences.asking.question import (
    Condition,
    GroupKey,
    Key,
    KeyColumn,
    LengthKey,
    SlopeKey,
    SymbolKey,
)
from release.sequences.asking.verdicts import verdict


@dataclass(frozen=True, slots=True)
class Counts:
    """One number a group, C order over the keys.

    Attributes:
        values: Estimated units that match for sure.
        half_widths: 95 % half-widths of ``values``.
        undecided: Estimated units of which the tree does not say whether they match
            (or in which group): pruned, or past what was looked at.
        reach: 95 % half-widths of ``values`` and ``undecided`` together.
    """

    values: FloatArray
    half_widths: FloatArray
    undecided: FloatArray
    reach: FloatArray


def count(
    tree: LevelledTree, condition: Condition | None, keys: Sequence[KeyColumn]
) -> Counts:
    """Count the units of each group.

    A node's own count is taken where everything is settled there and was not above:
    these nodes are disjoint, and a count carries less noise than the sum of what is
    below it. Their variances are added. Where a model fits siblings to their parent's
    count, errors of disjoint nodes lean against each other, so the sum is too large
    rather than too small (docs/querying-releases.md).
    """
    true = (
        np.ones(len(tree), dtype=np.int8)
        if condition is None
        else verdict(condition, tree).is_true
    )
    codes = [places_of(key, tree) for key in keys]
    settled = true > 0
    for code in codes:
        settled &= code >= 0
    fresh = settled & ~settled[tree.parents]
    fresh[tree.roots] = settled[tree.roots]
    shape = tuple(len(key.values) for key in keys)
    found = np.flatnonzero(fresh)
    values, variances = _summed(tree, found, codes, shape)
    open_ = tree.is_leaf & (true >= 0) & ~settled
    undecided, spread = _undecided(tree, open_, codes, shape)
    half_widths = WEIGHTED_QUANTILE * np.sqrt(variances)
    reach = WEIGHTED_QUANTILE * np.sqrt(variances + spread)
    room = _everybody(tree) - values
    return Counts(
        values,
        np.minimum(half_widths, np.maximum(room, values)),
        undecided,
        np.minimum(reach, np.maximum(room - undecided, 0)),
    )


def _everybody(tree: LevelledTree) -> float:
    """Return how many units there are at the most: no group holds more."""
    roots = tree.roots
    spread = WEIGHTED_QUANTILE * np.sqrt(tree.variances[roots].sum())
    return float(tree.counts[roots].sum() + spread)


def _summed(
    tree: LevelledTree,
    nodes: IntArray,
    codes: Sequence[IntArray],
    shape: tuple[int, ...],
) -> tuple[FloatArray, FloatArray]:
    """Return counts and variances of nodes, summed by group."""
    places = np.zeros(len(nodes), dtype=np.int64)
    for code, size in zip(codes, shape, strict=True):
        places = places * size + code[nodes]
    size = prod(shape)
    values = np.bincount(places, tree.counts[nodes], size).astype(np.float64)
    variances = np.bincount(places, tree.variances[nodes], size).astype(np.float64)
    return values, variances


def _undecided(
    tree: LevelledTree,
    open_: BoolArray,
    codes: Sequence[IntArray],
    shape: tuple[int, ...],
) -> tuple[FloatArray, FloatArray]:
    """Return what may belong to each group: leaves that no key leads elsewhere."""
    values, variances = np.zeros(shape), np.zeros(shape)
    known = [code >= 0 for code in codes]
    for pattern in product((False, True), repeat=len(codes)):
        fits = open_.copy()
        for is_known, wanted in zip(known, pattern, strict=True):
            fits &= is_known == wanted
        nodes = np.flatnonzero(fits)
        if not len(nodes):
            continue
        taken = [code for code, wanted in zip(codes, pattern, strict=True) if wanted]
        sizes = [size for size, wanted in zip(shape, pattern, strict=True) if wanted]
        laid = [
            size if wanted else 1 for size, wanted in zip(shape, pattern, strict=True)
        ]
        count_, variance = _summed(tree, nodes, taken, tuple(sizes))
        values += count_.reshape(laid)
        variances += variance.reshape(laid)
    return values.ravel(), variances.ravel()


# -- keys ------------------------------------------------------------------------


def places_of(column: KeyColumn, tree: LevelledTree) -> IntArray:
    """Return each node's place among a key's values; -1 where it is not known."""
    return _places(column.key, column, tree)


def _places(key: Key, column: KeyColumn, tree: LevelledTree) -> IntArray:
    match key:
        case GroupKey():
            return tree.groups
        case LengthKey():
            first = column.values[0]
            known = tree.lengths - (first if isinstance(first, int) else 0)
            return np.where(tree.is_final, np.maximum(known, 0), -1)
        case SymbolKey(place):
            found = tree.at(place)
            return np.where(found >= 0, np.minimum(found, len(column.values) - 1), -1)
        case SlopeKey():
            return _bands(key, tree)


def _bands(key: SlopeKey, tree: LevelledTree) -> IntArray:
    """Return the band of each slope: floor(slope / width + 1/2); NULL is last."""
    slopes = tree.slopes
    width = key.width * 10**tree.domain.alphabet.scale
    top = 2 * slopes.rise * width.denominator + slopes.run * width.numerator
    band = top // (2 * slopes.run * width.numerator) + key.most
    return np.where(tree.is_final, np.where(slopes.exists, band, 2 * key.most + 1), -1)
