"""Noise for a tree of grams: no path of it may ever spend more than was paid."""

from dataclasses import dataclass

import numpy as np

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.noisy import NoisySparse
from mechanisms.measuring.sparse_counts import SparseRule, kept_cells
from mechanisms.samplers.vectors import VectorSampler
from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.counts import IntArray, SparseCounts
from privacy.losses import Loss
from privacy.sealed import Exact


@dataclass(frozen=True, slots=True)
class LevelRule:
    """Which nodes' children are counted next, and what each pays; all of it public.

    Attributes:
        parents: Places of nodes among those that the level before kept, ascending.
        shares: What each of them pays for its children, in nano-units, positive.
        thresholds: For each of them, the least noisy count of a child that is kept.
        fanout: How many children each of them has.
    """

    parents: IntArray
    shares: IntArray
    thresholds: IntArray
    fanout: int


@dataclass(frozen=True, slots=True)
class NoisyLevel:
    """The children whose noisy count reached their parent's threshold.

    Attributes:
        cells: ``place in the rule's parents * fanout + child``, ascending.
        values: One noisy count a cell.
        scales: For each parent, that of its children's noise.
    """

    cells: IntArray
    values: IntArray
    scales: tuple[float, ...]


class PathBudget:
    """Counts the nodes of a tree level by level; holds what each path has left.

    A node's children are counted with the noise that its share pays for a distance of
    ``l1``, in L1 where losses are pure and in L2 where they are rho; the share is taken
    from what the node's path has left. The nodes of the last level alone can be
    counted below, each once, so that no path from the root spends more than the loss.

    What who calls it keeps: the children of a node are disjoint and count only what the
    node counts; one unit adds at most ``l1`` to the root.

    Neighbouring relation: add or remove all rows of one unit.
    Source: Chen, Acs and Castelluccia 2012; proof in docs/proofs/ngram.md.
    """

    def __init__(
        self, loss: Loss, l1: int, sampler: VectorSampler, noise: Noise = LAPLACE
    ) -> None:
        self._l1 = l1
        self._sampler = sampler
        self._noise = noise
        self._left = np.array([loss.nano_epsilon], dtype=np.int64)

    @property
    def left(self) -> IntArray:
        """What the path to each node of the last level has left, in nano-units."""
        return self._left.copy()

    def measure(self, sealed: Exact[SparseCounts], rule: LevelRule) -> NoisyLevel:
        """Return the children that are kept; they are the nodes of the next level.

        Args:
            sealed: Children that are not empty, numbered as in ``NoisyLevel``.
            rule: Which nodes' children these are, and what each pays.

        Raises:
            UnpaidMeasurementError: A parent is not there, stands twice, or has less
                left than its share. The seal stays closed, and nothing is spent.
            InvalidLossError: A share is too small for noise of at most 2**40. So too.
            ValueError: A fanout or threshold is out of range. So too.

        Neighbouring relation: add or remove all rows of one unit.
        """
        left = self._after(rule)
        groups = [
            _Group(rule, places, self._noise, self._l1)
            for places in _alike(rule.shares, rule.thresholds)
        ]
        self._left = left[:0]  # spent, whatever happens next
        raw = sealed.unseal()
        drawn = [group.noisy(raw, self._sampler) for group in groups]
        cells, values = _in_order(drawn)
        self._left = left[cells // rule.fanout]
        scales = np.zeros(len(rule.parents))
        for group in groups:
            scales[group.places] = group.scale
        return NoisyLevel(cells, values, tuple(scales.tolist()))

    def _after(self, rule: LevelRule) -> IntArray:
        """Return what the parents have left after they paid; refuse what is unpaid."""
        parents, known = rule.parents, len(self._left)
        ascending = len(parents) > 0 and bool((np.diff(parents) > 0).all())
        if not ascending or parents[0] < 0 or parents[-1] >= known:
            raise UnpaidMeasurementError
        if not len(parents) == len(rule.shares) == len(rule.thresholds):
            raise UnpaidMeasurementError
        left = self._left[parents]
        if bool(((rule.shares < 1) | (rule.shares > left)).any()):
            raise UnpaidMeasurementError
        return np.asarray(left - rule.shares, dtype=np.int64)


class _Group:
    """The parents of one rule that pay alike: one sparse draw for all of them."""

    def __init__(
        self, rule: LevelRule, places: IntArray, noise: Noise, l1: int
    ) -> None:
        first = int(places[0])
        self._noise = noise
        self.places = places
        self.fanout = rule.fanout
        self.scale = noise.scale(moved_by(l1), Loss(int(rule.shares[first])))
        self._cells = SparseRule(len(places) * rule.fanout, int(rule.thresholds[first]))

    def noisy(self, raw: SparseCounts, sampler: VectorSampler) -> NoisySparse:
        """Return the kept children of these parents, numbered among all parents."""
        parents, children = np.divmod(raw.cells, self.fanout)
        ranks = np.searchsorted(self.places, parents)
        own = self.places[np.minimum(ranks, len(self.places) - 1)] == parents
        inner = SparseCounts((ranks * self.fanout + children)[own], raw.counts[own])
        kept = kept_cells(self._noise, inner, self._cells, self.scale, sampler)
        ranks, children = np.divmod(kept.cells, self.fanout)
        cells = self.places[ranks] * self.fanout + children
        return NoisySparse(cells, kept.values, kept.scale, kept.noise)


def _alike(shares: IntArray, thresholds: IntArray) -> list[IntArray]:
    """Return the places of parents that share both numbers, ascending each."""
    both = np.stack([shares, thresholds], axis=1)
    _, kinds = np.unique(both, axis=0, return_inverse=True)
    kinds = kinds.reshape(-1)
    order = np.argsort(kinds, kind="stable")
    ends = np.flatnonzero(np.diff(kinds[order])) + 1
    return np.split(order.astype(np.int64), ends)


def _in_order(drawn: list[NoisySparse]) -> tuple[IntArray, IntArray]:
    cells = np.concatenate([some.cells for some in drawn])
    values = np.concatenate([some.values for some in drawn])
    order = np.argsort(cells)
    return cells[order], values[order]
