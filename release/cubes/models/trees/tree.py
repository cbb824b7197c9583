"""A cube published as a tree of noisy sums over ordered cells or buckets of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np

from mechanisms.scales.noises import LAPLACE, Noise
from release.contract.domain import CubeDomain
from release.contract.intervals import (
    noise_variance,
    weighted_half_widths,
    weighted_quantile,
)
from release.contract.models import (
    Estimates,
    FloatArray,
    IntArray,
    PublicFacts,
    Roll,
    Table,
    Weighing,
)
from release.contract.rho.noise_facts import noise_facts, noise_in
from release.cubes.models.parts.boxes import Overlaps
from release.cubes.models.parts.levels import family_sums
from release.cubes.models.parts.parts import (
    Meeting,
    Noisy,
    Parts,
    bounded,
    parts_of,
)
from release.cubes.models.parts.rolling import cell_groups, check_roll
from release.cubes.models.parts.unevenness import Spread, spread_bounds
from release.cubes.models.trees.hierarchy import (
    Combined,
    Hierarchy,
    Weights,
    answer_variances,
    combine,
    least_squares,
)
from release.cubes.models.trees.isotonic import monotone_counts
from release.cubes.models.trees.orders import (
    BLOCKS,
    HILBERT,
    Fanouts,
    block_tree,
    hilbert_order,
)
from release.cubes.models.trees.ranges import Edge, Runs, range_variance, runs_of


@dataclass(frozen=True)
class TreeModel:
    """Noisy sums of nested runs of cells; least squares makes them agree.

    Attributes:
        domain: What the cube ranges over.
        order: ``rows`` (C order), ``hilbert`` or ``blocks`` (by ``fanouts``).
        buckets: First place, in order, of each lowest run; None: each cell is one.
        tree: Over the buckets.
        values: As drawn, from the top level.
        scales: Of each level's draws.
        fanouts: Of ``blocks``.
        spread: What was measured of the spread inside buckets, if anything.
        strategy: Which strategy made it.
        noise: The kind of all draws.

    In one dimension the estimates are a view of the least-squares ones: the nearest
    counts that are not negative. Source: docs/proofs/hb.md.
    """

    domain: CubeDomain
    order: str
    buckets: IntArray | None
    tree: Hierarchy
    values: tuple[IntArray, ...]
    scales: tuple[float, ...]
    fanouts: Fanouts = ()
    spread: Spread | None = None
    strategy: str = "hb"
    noise: Noise = LAPLACE

    @classmethod
    def rebuilt(
        cls,
        domain: CubeDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "TreeModel":
        """Return the model that wrote these facts and tables."""
        nodes = tables["nodes"]
        scales = tuple(float(x) for x in cast("list[float]", facts["scales"]))
        levels = [np.flatnonzero(nodes["level"] == n) for n in range(len(scales))]
        firsts = [np.asarray(nodes["first"][rows], np.int64) for rows in levels]
        bucketed = "buckets" in tables
        own = np.asarray(tables["buckets"]["first"], np.int64) if bucketed else None
        starts = tuple(
            np.searchsorted(below, above) for above, below in pairwise(firsts)
        )
        return cls(
            domain=domain,
            order=str(facts["order"]),
            buckets=own,
            tree=Hierarchy(starts, len(firsts[-1])),
            values=tuple(np.asarray(nodes["value"][rows], np.int64) for rows in levels),
            scales=scales,
            fanouts=tuple(
                tuple(cuts) for cuts in cast("list[list[int]]", facts["fanouts"])
            ),
            spread=Spread.read(facts, tables),
            strategy=str(facts["strategy"]),
            noise=noise_in(facts),
        )

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return "tree"

    def facts(self) -> PublicFacts:
        """Return the order of the cells, and each level's scale from the top."""
        return {
            "strategy": self.strategy,
            "order": self.order,
            "fanouts": [list(cuts) for cuts in self.fanouts],
            "scales": list(self.scales),
            "spread_scale": None if self.spread is None else self.spread.scale,
            **noise_facts(self.noise),
        }

    def tables(self) -> Mapping[str, Table]:
        """Return one row a node: its level, its first leaf's place, its value."""
        firsts = [np.arange(self.tree.leaves)]
        for starts in reversed(self.tree.starts):
            firsts.insert(0, firsts[0][starts])
        nodes: Table = {
            "level": np.repeat(np.arange(len(firsts)), [len(row) for row in firsts]),
            "first": np.concatenate(firsts),
            "value": np.concatenate(self.values),
        }
        if self.buckets is None:
            return {"nodes": nodes}
        buckets = {"first": self.buckets}
        if self.spread is not None:
            buckets["spread"] = self.spread.values
        return {"nodes": nodes, "buckets": buckets}

    def prepare(self) -> None:
        """Work out the fit, its sums, and where each cell stands."""
        sums = self._straight_sums, self._fitted_sums
        for found in (*sums, self._places, self._owners, self._ends, self._volumes):
            del found

    def estimates(self) -> FloatArray:
        """Return every cell's estimate: its bucket's, spread evenly."""
        spread = np.repeat(self._fitted / self._sizes, self._sizes)
        if self._places is None:
            return spread
        cells = np.empty_like(spread)
        cells[self._places] = spread
        return cells

    def roll(self, roll: Roll) -> Estimates:
        """Answer with the view's sums; half-widths contain the least-squares ones'."""
        check_roll(self.domain.shape, roll)
        runs = runs_of(roll)
        if runs is not None:
            return self._of_runs(runs, roll.groups[0])
        groups = int(np.prod(roll.groups, dtype=object))
        parts = parts_of(self._met(roll), self._volumes, groups)
        shown = Weights(parts.nodes, parts.groups, parts.evenly, groups)
        values = _weighted_sums(shown, self._fitted)
        return self._of_parts(parts, values)

    def weighing(self, roll: Roll, sums: IntArray, count: int) -> Weighing:
        """Return what bounds weighted sums: noise as it adds up, and cut buckets."""
        check_roll(self.domain.shape, roll)
        meeting = Meeting.of(self._met(roll), self._volumes, sums, count)

        def bounds(weights: FloatArray, values: FloatArray) -> Estimates:
            return self._of_parts(meeting.parts(weights), values)

        return Weighing(len(meeting.groups), bounds)

    def _of_parts(self, parts: Parts, values: FloatArray) -> Estimates:
        """Return weighted sums of buckets; cost grows with how many they read."""
        groups = len(values)

        def noisy(taken: FloatArray) -> Noisy:
            weights = Weights(parts.nodes, parts.groups, taken, groups)
            variances = answer_variances(self.tree, self._combined, weights)
            values = _weighted_sums(weights, self._straight)
            return Noisy(values, self._half_widths(variances, loads), variances)

        loads = parts.loads(groups)
        even = noisy(parts.evenly)
        cut = parts.take(np.flatnonzero(parts.most > parts.least))
        least = noisy(parts.least) if len(cut.nodes) else even
        most = noisy(parts.most) if len(cut.nodes) else even
        return self._bounded(values, (least, even, most), cut)

    def _of_runs(self, runs: Runs, groups: int) -> Estimates:
        """Return counts of ranges; cost grows with the tree's height alone."""
        edges = self._edges(runs, groups)
        even = self._between(runs, self._straight_sums, groups)
        inner, outer = np.zeros_like(edges.slopes), np.ones_like(edges.slopes)
        ends = [
            self._of_edges(runs, edges, even, taken)
            for taken in (inner, edges.slopes, outer)
        ]
        cut = Parts(edges.leaves, edges.owners, edges.slopes, inner, outer)
        values = self._between(runs, self._fitted_sums, groups)
        return self._bounded(values, (ends[0], ends[1], ends[2]), cut)

    def _of_edges(
        self, runs: Runs, edges: Weights, even: FloatArray, taken: FloatArray
    ) -> Noisy:
        """Return sums of ranges that take another share of the buckets at their ends.

        Args:
            runs: The ranges.
            edges: The buckets that they cut, spread evenly.
            even: What the sums are with those.
            taken: Of each of those buckets.
        """
        more = replace(edges, slopes=taken - edges.slopes)
        values = even + _weighted_sums(more, self._straight)
        variances = self._range_variances(runs, replace(edges, slopes=taken))
        return Noisy(values, self._half_widths(variances, 1.0), variances)

    def _half_widths(
        self, variances: FloatArray, loads: FloatArray | float
    ) -> FloatArray:
        return weighted_half_widths(variances, loads, weighted_quantile(self.noise))

    def _bounded(
        self,
        values: FloatArray,
        ends: tuple[Noisy, Noisy, Noisy],
        cut: Parts,
    ) -> Estimates:
        """Return estimates with what the cut buckets may hide."""
        groups, nodes = len(values), cut.nodes
        # a fit may flatten a spike that the draws have seen
        counts = np.maximum(np.maximum(self._fitted[nodes], self._straight[nodes]), 0)
        squares = np.square(counts) * (cut.evenly - cut.least) * (cut.most - cut.evenly)
        variances = ends[1].variances + family_sums(cut.groups, squares, groups)
        known = spread_bounds(cut, groups, self.spread)
        return bounded((values, variances), ends, known)

    @cached_property
    def _places(self) -> IntArray | None:
        """Which cell stands at each place of the order; None: C order."""
        if self.order == HILBERT:
            return hilbert_order(self.domain.shape)
        if self.order == BLOCKS:
            return block_tree(self.domain.shape, self.fanouts)[0]
        return None

    @cached_property
    def _sizes(self) -> IntArray:
        if self.buckets is None:
            return np.ones(self.domain.size, dtype=np.int64)
        return np.diff(self.buckets, append=self.domain.size)

    @cached_property
    def _combined(self) -> Combined:
        levels = [level.astype(np.float64) for level in self.values]
        variances = [noise_variance(scale, self.noise) for scale in self.scales]
        return combine(self.tree, levels, variances)

    @cached_property
    def _straight(self) -> FloatArray:
        return least_squares(self.tree, self._combined)

    @cached_property
    def _fitted(self) -> FloatArray:
        if len(self.domain.shape) > 1:
            return self._straight
        after = np.append(self._sizes[1:], 0)
        return monotone_counts(self._straight, (self._sizes + after) / 2)

    @cached_property
    def _owners(self) -> IntArray:
        """Return the bucket of each place."""
        return np.repeat(np.arange(len(self._sizes)), self._sizes)

    @cached_property
    def _ends(self) -> IntArray:
        """Return the first place of each bucket, and the end of the last."""
        return np.concatenate([[0], np.cumsum(self._sizes)])

    @cached_property
    def _straight_sums(self) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(self._straight)])

    @cached_property
    def _fitted_sums(self) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(self._fitted)])

    def _between(self, runs: Runs, sums: FloatArray, count: int) -> FloatArray:
        """Return sums over ranges of places, buckets spread evenly."""
        found = np.zeros(count)
        last = np.interp(runs.lasts, self._ends, sums)
        found[runs.groups] = last - np.interp(runs.firsts, self._ends, sums)
        return found

    def _edges(self, runs: Runs, count: int) -> Weights:
        """Return the buckets that a range takes a part of."""
        found: list[tuple[int, int, float]] = []
        for group, first, last in zip(
            runs.groups.tolist(), runs.firsts.tolist(), runs.lasts.tolist(), strict=True
        ):
            ends = np.searchsorted(self._ends, [first, last - 1], "right") - 1
            for bucket in sorted(set(ends.tolist())):
                low, size = int(self._ends[bucket]), int(self._sizes[bucket])
                held = min(last, low + size) - max(first, low)
                if held < size:
                    found.append((bucket, group, held / size))
        leaves, owners, slopes = zip(*found, strict=True) if found else ((), (), ())
        return Weights(
            np.array(leaves, dtype=np.int64),
            np.array(owners, dtype=np.int64),
            np.array(slopes, dtype=np.float64),
            count,
        )

    def _range_variances(self, runs: Runs, edges: Weights) -> FloatArray:
        found = np.zeros(edges.groups)
        firsts = np.searchsorted(self._ends, runs.firsts, "left")
        lasts = np.searchsorted(self._ends, runs.lasts, "right") - 1
        for group, first, last in zip(runs.groups, firsts, lasts, strict=True):
            own = [
                Edge(int(edges.leaves[at]), float(edges.slopes[at]))
                for at in np.flatnonzero(edges.owners == group)
            ]
            found[group] = range_variance(
                self.tree, self._combined, int(first), max(int(first), int(last)), own
            )
        return found

    def _met(self, roll: Roll) -> Overlaps:
        """Return how many cells of which bucket each group counts."""
        groups = cell_groups(roll)
        if self._places is not None:
            groups = groups[self._places]
        count = int(np.prod(roll.groups, dtype=object))
        kept = np.flatnonzero(groups >= 0)
        owners, groups = self._owners[kept], groups[kept]
        if self.buckets is None:
            return Overlaps(owners, groups, np.ones_like(owners))
        keys, cells = np.unique(owners * count + groups, return_counts=True)
        return Overlaps(keys // count, keys % count, cells.astype(np.int64))

    @cached_property
    def _volumes(self) -> FloatArray:
        return self._sizes.astype(np.float64)


def _weighted_sums(weights: Weights, leaves: FloatArray) -> FloatArray:
    held = leaves[weights.leaves] * weights.slopes
    return _sums(weights.owners, held, weights.groups)


def _sums(owners: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.bincount(owners, values, minlength=count).astype(np.float64)
