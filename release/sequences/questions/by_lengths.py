"""Counts of units by their lengths alone: from noisy lengths, and from the tree.

Source: docs/proofs/prefix_tree.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.bands import Bands, band_starts, nearest
from release.sequences.estimation.paths import PathTree
from release.sequences.questions.counting import grouped
from release.sequences.questions.counts import Counts
from release.sequences.questions.levels import LevelledTree
from release.sequences.questions.question import (
    Condition,
    GroupIn,
    GroupKey,
    KeyColumn,
    LengthIn,
    LengthKey,
    SequenceQuestion,
)

_SHARES: Final = np.linspace(0, 1, 21)[:, None]
"""How much of an answer is the noisy lengths', a row each; the rest is the tree's."""


def is_of_lengths(question: SequenceQuestion) -> bool:
    """Whether lengths are asked of, and nothing else but the split."""
    asked = [*(key.key for key in question.keys), *question.atoms]
    of_lengths = [isinstance(one, LengthKey | LengthIn) for one in asked]
    of_split = [isinstance(one, GroupKey | GroupIn) for one in asked]
    others = len(asked) - sum(of_lengths) - sum(of_split)
    return any(of_lengths) and not others


@dataclass(frozen=True, slots=True)
class _Parts:
    """Bands that hold a length of a row of an answer, each with its row and group.

    Attributes:
        rows: Of the answer.
        groups: Places of the split's values.
        bands: Places of the bands.
        shares: How many of a band's lengths are the row's, as a share of them.
        size: How many rows there are.
    """

    rows: IntArray
    groups: IntArray
    bands: IntArray
    shares: FloatArray
    size: int


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums of bands, one a row of an answer.

    Attributes:
        values: Estimates.
        own: Half-widths of what has nothing in common with the tree's errors.
        common: Half-widths of what may be the tree's error, too.
    """

    values: FloatArray
    own: FloatArray
    common: FloatArray


@dataclass(frozen=True)
class LengthCounter:
    """Counts units by their lengths; immutable, and safe for many threads.

    Attributes:
        tree: Of the release.
        bands: Its noisy lengths.
    """

    tree: LevelledTree
    bands: Bands

    def count(
        self, condition: Condition | None, keys: Sequence[KeyColumn], told: Counts
    ) -> Counts:
        """Return what noisy lengths and the tree say together.

        Both ends of an interval are means of what the two say, with the shares that
        make it narrowest. These depend on how sure both are, not on how far apart: of
        two intervals the one that ends lower would miss more.

        Args:
            condition: Of lengths and the split alone.
            keys: Likewise.
            told: What the tree says by itself.
        """
        parts = self._parts(condition, keys)
        least = self._summed(parts, parts.shares == 1)
        most = self._summed(parts, parts.shares > 0)
        lows = self._joined(least, told.values - told.doubts, told.half_widths)
        tree = told.values + told.undecided + told.spare
        highs = self._joined(most, tree, told.reach)
        widths = highs[0] + highs[1] - np.maximum(lows[0] - lows[1], 0)
        best = widths.argmin(axis=0), np.arange(parts.size)
        shares = _SHARES[best[0], 0]
        values = self._likely(parts, told, shares)
        low = np.clip(lows[0][best], 0, values)
        more = np.maximum(highs[0][best] - values, 0)
        is_open = (shares < 1) & (told.undecided > 0)
        is_open[parts.rows[parts.shares < 1]] = True
        undecided = np.where(is_open, more, 0)
        return Counts(
            values=values,
            half_widths=lows[1][best],
            doubts=values - low,
            undecided=undecided,
            reach=highs[1][best],
            spare=more - undecided,
        )

    def _likely(self, parts: _Parts, told: Counts, shares: FloatArray) -> FloatArray:
        """Return estimates: all lengths of a band are alike.

        What the tree leaves undecided is divided as the noisy lengths say.
        """
        own = self._fitted[parts.groups, parts.bands] * parts.shares
        values = np.bincount(parts.rows, own, parts.size)
        by_tree = np.clip(values, told.values, told.values + told.undecided)
        return np.asarray(shares * values + (1 - shares) * by_tree)

    def _parts(self, condition: Condition | None, keys: Sequence[KeyColumn]) -> _Parts:
        tree, most = self._every_length, self.tree.domain.max_length
        groups = grouped(tree, condition, keys)
        nodes = np.flatnonzero(tree.is_leaf & groups.settled)
        rows = np.zeros(len(nodes), dtype=np.int64)
        for code, size in zip(groups.codes, groups.shape, strict=True):
            rows = rows * size + code[nodes]
        firsts = band_starts(most)
        bands = np.searchsorted(firsts, tree.lengths[nodes], side="right") - 1
        shape = prod(groups.shape), self.tree.domain.groups, len(firsts)
        cells, matched = np.unique(
            np.ravel_multi_index((rows, tree.groups[nodes], bands), shape),
            return_counts=True,
        )
        row, group, band = np.unravel_index(cells, shape)
        widths = np.diff(firsts, append=most + 1)
        return _Parts(row, group, band, matched / widths[band], shape[0])

    @cached_property
    def _every_length(self) -> LevelledTree:
        domain = self.tree.domain
        return LevelledTree(domain, one_way(domain))

    # -- sums of bands -----------------------------------------------------------

    @cached_property
    def _totals(self) -> tuple[FloatArray, FloatArray]:
        """How many units each group has, and the squared error expected of that.

        The tree's number, where it is said to be better than that of the lengths.
        """
        roots, noise = self.tree.roots, self.bands.totals_variance
        order = np.argsort(self.tree.groups[roots])
        of_tree = self.tree.variances[roots][order]
        is_better = of_tree < noise
        told = self.bands.counts.sum(axis=1)
        totals = np.where(is_better, self.tree.counts[roots][order], told)
        return totals, np.where(is_better, of_tree, noise)

    @cached_property
    def _values(self) -> FloatArray:
        """Each band's count, with its share of what all of a group's lack."""
        counts = self.bands.counts.astype(np.float64)
        missing = self._totals[0] - counts.sum(axis=1)
        return np.asarray(counts + missing[:, None] / counts.shape[1])

    @cached_property
    def _fitted(self) -> FloatArray:
        """These without negative ones, which sum to what they summed to."""
        rows = zip(self._values, self._totals[0].tolist(), strict=True)
        return np.array([nearest(row, total) for row, total in rows])

    def _summed(self, parts: _Parts, taken: NDArray[np.bool_]) -> _Sums:
        """Return the sums of some bands.

        Of k of a group's K bands the noise, less k / K of that of all K, has the
        variance k (1 - k / K) of one draw's, and nothing in common with that of all K.
        The rest of the error is k / K of that of how many units the group has.
        """
        rows, groups = parts.rows[taken], parts.groups[taken]
        is_part = parts.shares[taken] < 1
        values = self._values[groups, parts.bands[taken]]
        values = np.where(is_part, np.maximum(values, 0), values)
        shape = parts.size, self.tree.domain.groups
        cells, bands = np.unique(
            np.ravel_multi_index((rows, groups), shape), return_counts=True
        )
        row, group = np.unravel_index(cells, shape)
        share = bands / self.bands.counts.shape[1]
        own = 2 * self.bands.scale**2 * bands * (1 - share)
        common = np.square(share) * self._totals[1][group]
        return _Sums(
            np.bincount(rows, values, parts.size).astype(np.float64),
            WEIGHTED_QUANTILE * np.sqrt(np.bincount(row, own, parts.size)),
            WEIGHTED_QUANTILE * np.sqrt(np.bincount(row, common, parts.size)),
        )

    def _joined(
        self, sums: _Sums, values: FloatArray, half_widths: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return means of noisy lengths and the tree, a row a share; half-widths, too.

        A tree that a chain was unrolled to learnt from each of the lengths: there none
        of their error is their own.
        """
        shares, others = _SHARES, 1 - _SHARES
        own, common = sums.own, sums.common
        if self.tree.lean:
            own, common = np.zeros_like(own), np.hypot(own, common)
        beside = np.square(shares * common + others * half_widths)
        widths = np.sqrt(np.square(shares * own) + beside)
        return shares * sums.values + others * values, widths


def one_way(domain: SequenceDomain) -> PathTree:
    """Return a tree of one path in each group, which may end after each symbol."""
    groups = np.arange(domain.groups)
    parents, symbols, depths = [np.full(len(groups), -1)], [-1], [0]
    above, known = groups, len(groups)
    for depth in range(1, domain.max_length + 1):
        ways = [0] if depth == 1 else [0, domain.end]  # no sequence is empty
        parents += [above] * len(ways)
        symbols += ways
        depths += [depth] * len(ways)
        above, known = known + groups, known + len(groups) * len(ways)
    nothing = np.zeros(known)
    return PathTree(
        groups=np.tile(groups, len(symbols)),
        parents=np.concatenate(parents),
        symbols=np.repeat(symbols, len(groups)),
        depths=np.repeat(depths, len(groups)),
        counts=nothing,
        variances=nothing,
    )
