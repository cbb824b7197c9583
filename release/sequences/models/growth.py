"""A completed tree as flat arrays, and the part of it that is told as paths."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from release.contract.models import FloatArray, IntArray
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.paths import PathTree
from release.sequences.models.completion import Children, Completed


@dataclass(frozen=True, slots=True)
class FullTree:
    """Roots, and all children of every grown node, level by level.

    Attributes:
        groups: For each node, the place of the split's value.
        parents: Place of its parent; -1 for a root.
        symbols: Its code; -1 for a root.
        depths: How many symbols lead to it.
        counts: Estimated units.
        variances: Mean squared error expected of each.
        kept: Whether it stands in the release; roots do.
        states: The chain's.
        open_ends: Units of which nothing is known beyond this node.
        doubts: How much of each count noise alone may have made.
    """

    groups: IntArray
    parents: IntArray
    symbols: IntArray
    depths: IntArray
    counts: FloatArray
    variances: FloatArray
    kept: NDArray[np.bool_]
    states: IntArray
    open_ends: FloatArray
    doubts: FloatArray

    def child(self, nodes: IntArray, symbols: IntArray, base: int) -> IntArray:
        """Return the places of nodes' children, -1 for those that have none."""
        first = int((self.parents < 0).sum())
        keys = self.parents[first:] * base + self.symbols[first:]
        wanted = nodes * base + symbols
        places = np.searchsorted(keys, wanted)
        within = np.minimum(places, max(0, len(keys) - 1))
        found = (places < len(keys)) & (keys[within] == wanted)
        return np.asarray(np.where(found, first + within, -1))


def full_tree(domain: SequenceDomain, completed: Completed) -> FullTree:
    """Return the flat arrays of a completed tree."""
    made = [_roots(domain, completed)]
    places, start = np.arange(domain.groups), 0
    for depth, level in enumerate(completed.levels, start=1):
        above = made[-1]
        own = _level(domain, completed, level, (places, depth))
        own.groups[:] = above.groups[own.parents]
        grown = (level.rows * (domain.symbols + 1) + level.symbols)[level.grown]
        if depth < len(completed.levels):
            own.open_ends[grown] = 0
        own.parents[:] += start
        start += len(above.counts)
        made.append(own)
        places = grown
    columns = [
        np.concatenate([getattr(part, name) for part in made])
        for name in FullTree.__dataclass_fields__
    ]
    return FullTree(*columns)


def _roots(domain: SequenceDomain, completed: Completed) -> FullTree:
    groups, first = np.arange(domain.groups), completed.levels[0]
    nobody, nothing = np.full(len(groups), -1), np.zeros(len(groups))
    return FullTree(
        groups=groups,
        parents=nobody,
        symbols=nobody.copy(),
        depths=np.zeros(len(groups), dtype=np.int64),
        counts=first.counts.sum(axis=1),
        variances=completed.root_variances,
        kept=np.ones(len(groups), dtype=np.bool_),
        states=first.states,
        open_ends=nothing,
        doubts=nothing.copy(),
    )


def _level(
    domain: SequenceDomain,
    completed: Completed,
    level: Children,
    where: tuple[IntArray, int],
) -> FullTree:
    places, depth = where
    codes = domain.symbols + 1
    parents = np.repeat(places, codes)
    symbols = np.tile(np.arange(codes), len(places))
    counts = level.counts.ravel()
    return FullTree(
        groups=np.zeros(len(parents), dtype=np.int64),
        parents=parents,
        symbols=symbols,
        depths=np.full(len(parents), depth),
        counts=counts,
        variances=level.variances.ravel(),
        kept=level.kept.ravel(),
        states=completed.chain.after(np.repeat(level.states, codes), symbols),
        open_ends=np.where(symbols == domain.end, 0.0, counts),
        doubts=level.doubts.ravel(),
    )


def published(domain: SequenceDomain, full: FullTree) -> PathTree:
    """Return the kept nodes; each grown one's other children are one ``rest``."""
    hidden = ~full.kept
    size = len(full.counts)
    owners = full.parents[hidden]
    rest_of = np.bincount(owners, full.counts[hidden], size)
    spread = np.bincount(owners, full.variances[hidden], size)
    with_rest = np.unique(owners)
    inside = np.flatnonzero(full.kept)
    parents = np.concatenate([full.parents[inside], with_rest])
    symbols = np.concatenate(
        [full.symbols[inside], np.full(len(with_rest), domain.rest)]
    )
    depths = np.concatenate([full.depths[inside], full.depths[with_rest] + 1])
    sources = np.concatenate([inside, with_rest])
    order = np.lexsort((symbols, parents, depths))
    numbers = np.full(size, -1)
    is_rest = order >= len(inside)
    numbers[sources[order[~is_rest]]] = np.flatnonzero(~is_rest)
    above, nothing = parents[order], np.zeros(len(with_rest))
    return PathTree(
        groups=full.groups[sources[order]],
        parents=np.where(above < 0, -1, numbers[above]),
        symbols=symbols[order],
        depths=depths[order],
        counts=np.concatenate([full.counts[inside], rest_of[with_rest]])[order],
        variances=np.concatenate([full.variances[inside], spread[with_rest]])[order],
        doubts=np.concatenate([full.doubts[inside], nothing])[order],
    )
