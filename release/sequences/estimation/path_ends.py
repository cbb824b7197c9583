"""Upper ends of how many units begin with paths, whatever a chain expects of them.

Everything here is post-processing of published numbers.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray
from release.sequences.estimation.chains import PUSHED
from release.sequences.estimation.gram_ends import UNKNOWN, Drawn, GramEnds
from release.sequences.estimation.paths import PathTree
from release.sequences.estimation.sample_ends import SampleEnds

_ONCE: Final = 1 << 30
"""A period longer than any sequence: a path stands once in each."""

_TOGETHER: Final = 2 ** np.arange(8)
"""How many upper ends hold all together 19 times in 20, each further out for that."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Paths of one depth, level by level.

    Attributes:
        groups: Of the split.
        rows: (paths, order + 1): where the gram of the last 0, 1, ... symbols stands
            among those of its length, the place before the first symbol among them;
            unknown where it was not kept, or is longer than the path.
        least: (paths, ``_TOGETHER``): the least of all upper ends, by how many of them
            hold together.
        many: How many of them are about so low that noise may have made them the least.
    """

    groups: IntArray
    rows: IntArray
    least: FloatArray
    many: IntArray

    def taken(self, places: IntArray) -> "Begun":
        """Return some of them."""
        return Begun(
            self.groups[places],
            self.rows[places],
            self.least[places],
            self.many[places],
        )

    @property
    def mosts(self) -> FloatArray:
        """How many units begin so, at the most."""
        columns = np.searchsorted(_TOGETHER, self.many)
        columns = np.minimum(columns, len(_TOGETHER) - 1)
        return np.asarray(self.least[np.arange(len(columns)), columns])


@dataclass(frozen=True)
class PathEnds:
    """Bounds paths by their parts that were counted, and by noisy lengths.

    No more units begin with a path than with a shorter one, than have any part of it,
    or than are so long. This reads no probability: a chain that forgets how a path
    began expects as few there as go so from elsewhere.

    Attributes:
        grams: As drawn.
        samples: What sampled places leave open of the others.
    """

    grams: GramEnds
    samples: SampleEnds

    def of(self, tree: PathTree) -> FloatArray:
        """Return how many units may be at each node at the most.

        What is not known of a path is as far off as the path and all that is known of
        it together: it has no end of its own.

        Args:
            tree: The chain's, level by level.
        """
        mosts = tree.counts.copy()
        depths = np.arange(tree.depths.max(initial=0) + 2)
        firsts = np.searchsorted(tree.depths, depths)
        begun = self._start(tree, firsts[1])
        mosts[: firsts[1]] = begun.mosts
        for depth, (above, first, last) in enumerate(
            zip(firsts, firsts[1:], firsts[2:], strict=False), 1
        ):
            parents, symbols = (
                tree.parents[first:last] - above,
                tree.symbols[first:last],
            )
            begun = self._onward(begun.taken(parents), symbols, depth)
            known = symbols <= self.grams.symbols
            mosts[first:last] = np.where(known, begun.mosts, mosts[first:last])
        return mosts

    def _start(self, tree: PathTree, roots: int) -> Begun:
        """Return the paths without a symbol, one a group."""
        groups = tree.groups[:roots]
        rows = np.full((roots, len(self.grams.levels) + 1), UNKNOWN)
        rows[:, 0] = groups
        start = np.full(roots, self.grams.symbols + 1)
        rows[:, 1] = self.grams.child(1, groups, start).places
        spread = WEIGHTED_QUANTILE * np.sqrt(tree.variances[:roots])
        most = tree.counts[:roots] + spread
        least = np.repeat(most[:, None], len(_TOGETHER), axis=1)
        return Begun(groups, rows, least, np.ones(roots, dtype=np.int64))

    def _onward(self, above: Begun, symbols: IntArray, depth: int) -> Begun:
        """Return paths with a symbol more, or that end.

        Args:
            above: Of each, the path without it.
            symbols: The last one; of what is not known, any that is no symbol.
            depth: How many there are with it.
        """
        rows = np.full_like(above.rows, UNKNOWN)
        rows[:, 0] = above.groups
        most = self._as_long(above.groups, symbols, depth)
        least = np.minimum(above.least, most[:, None])
        many = above.many.copy()
        for size in range(1, min(depth + 1, len(self.grams.levels)) + 1):
            part = self._part(above, symbols, size)
            rows[:, size] = part.places
            noise = (PUSHED + np.log(_TOGETHER)) * part.scales[:, None]
            ends = part.values[:, None] + noise
            if size <= depth:  # it does not begin with the start, which all have
                ends = self._anywhere(above.groups, part.values, noise, depth)
            is_low = ends[:, 0] - 2 * noise[:, 0] <= least[:, 0]
            many += part.counted & is_low
            lower = np.minimum(least, ends)
            least = np.where(part.counted[:, None], lower, least)
        return Begun(above.groups, rows, least, many)

    def _part(self, above: Begun, symbols: IntArray, size: int) -> Drawn:
        """Return what was drawn of the last symbols of paths.

        Where sequences end is counted after a symbol, what is not known never.
        """
        part = self.grams.child(size, above.rows[:, size - 1], symbols)
        last = self.grams.symbols - (size == 1)
        return replace(part, counted=part.counted & (symbols <= last))

    def _anywhere(
        self, groups: IntArray, values: FloatArray, noise: FloatArray, depth: int
    ) -> FloatArray:
        """Return of how many units grams may be that stand at sampled places."""
        found = values[:, None] + noise
        shape = min(depth, self.samples.bands.max_length), _ONCE
        for group in np.unique(groups).tolist():
            long = self.samples.in_long(group)
            if long > 0:
                own = groups == group
                sampled = WEIGHTED_QUANTILE * np.sqrt(np.minimum(values[own], long))
                over = values[own, None] + np.hypot(noise[own], sampled[:, None])
                found[own] = np.add(*self.samples.most(group, shape, over))
        return found

    def _as_long(self, groups: IntArray, symbols: IntArray, depth: int) -> FloatArray:
        """Return how many units have so many symbols, at the most."""
        every, longest = range(self.grams.groups), self.samples.bands.max_length
        own = min(depth, longest), max(depth - 1, 1)
        longer = np.array([self.samples.longer(group, own[0]) for group in every])
        ended = np.array([self.samples.ended(group, own[1]) for group in every])
        is_end = symbols == self.grams.symbols
        return np.where(is_end, ended[groups], longer[groups])
