"""A Markov chain unrolled into a tree of paths, level by level."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray
from release.sequences.estimation.bands import Bands
from release.sequences.estimation.chains import Chains, Tails, spread
from release.sequences.estimation.paths import PathTree

FINEST: Final = 100_000
"""Paths that hold less than one in so many of the units have no node of their own."""

MOST_NODES: Final = 200_000

LEAN: Final = 0.5
"""Correlation of the errors of nodes: each probability stands for many of them."""


@dataclass(frozen=True, slots=True)
class _Frontier:
    """Nodes of one depth that go on."""

    nodes: IntArray
    tails: Tails
    counts: FloatArray
    variances: FloatArray
    leans: bool


@dataclass(frozen=True, slots=True)
class _Children:
    """All children of a frontier, row by row: symbols, the end, and the rest."""

    counts: FloatArray
    variances: FloatArray


def expanded(chains: Chains, bands: Bands) -> PathTree:
    """Return the tree of expected counts: all units at the roots, then the chain."""
    domain, groups = chains.domain, np.arange(chains.domain.groups)
    units = bands.units.sum(axis=1)
    spread = 2 * bands.scale**2 * bands.counts.shape[1]
    start = np.full(len(groups), chains.base - 1, dtype=np.int64)
    nothing = np.zeros(len(groups), dtype=np.int64)
    tails = chains.longer(Tails(groups, nothing, nothing), start)
    leans = bands.sampled  # releases of the first format list what was told before
    front = _Frontier(groups, tails, units, np.full(len(groups), spread), leans)
    built = [_block(groups, nothing - 1, nothing - 1, 0, front.counts, front.variances)]
    known = len(groups)
    least = max(1.0, float(units.sum()) / FINEST)
    for depth in range(domain.max_length):
        if not len(front.nodes):
            break
        children = _children(chains, front, depth)
        room = max(0, (MOST_NODES - known) // 2)
        children = _pruned(children, domain.symbols, (least, room), leans=leans)
        rows, symbols = np.nonzero(children.variances > 0)
        counts = children.counts[rows, symbols]
        variances = children.variances[rows, symbols]
        owners = front.tails.groups[rows]
        built.append(
            _block(owners, front.nodes[rows], symbols, depth + 1, counts, variances)
        )
        places = known + np.arange(len(rows))
        known += len(rows)
        on = symbols < domain.symbols
        before = Tails(
            owners[on], front.tails.tails[rows[on]], front.tails.lengths[rows[on]]
        )
        longer = chains.longer(before, symbols[on])
        front = _Frontier(places[on], longer, counts[on], variances[on], leans)
    return replace(_joined(built), lean=LEAN)


def _children(chains: Chains, front: _Frontier, depth: int) -> _Children:
    """Return the expected children; no sequence is empty."""
    symbols = chains.domain.symbols
    told = chains.steps(front.tails, np.arange(symbols + 1))
    probabilities = told.probabilities
    ends = front.counts * np.minimum(probabilities[:, symbols], 1 if depth else 0)
    on = probabilities[:, :symbols]
    sums = on.sum(axis=1, keepdims=True)
    on = np.where(sums > 0, on / np.where(sums > 0, sums, 1), 1 / symbols)
    counts = np.zeros((len(ends), symbols + 2))
    counts[:, :symbols] = on * (front.counts - ends)[:, None]
    counts[:, symbols] = ends
    shares = counts / np.maximum(front.counts, 1e-9)[:, None]
    if front.leans:  # where nobody is left, there may be some yet
        ends = np.minimum(probabilities[:, symbols], 1 if depth else 0)[:, None]
        shares[:, : symbols + 1] = np.hstack([on * (1 - ends), ends])
    memory = chains.memory_deviations(told.used, depth + 1)
    own = (np.square(front.counts) + front.variances)[:, None]
    variances = np.square(shares) * front.variances[:, None]
    # children are made to sum to their parent: each takes a share of what that moves
    noise = told.deviations.min(axis=1) ** 2 * (probabilities > 0).sum(axis=1)
    noise += np.square(1 - probabilities.sum(axis=1))
    scaled = np.square(shares[:, :-1]) * noise[:, None]
    variances[:, :-1] += own * (spread(told, memory) + scaled)
    variances = np.minimum(variances, own)  # nobody is in a child alone
    return _Children(counts, variances)


def _pruned(
    children: _Children, rest: int, limits: tuple[float, int], *, leans: bool
) -> _Children:
    """Move children below the least count, or beyond the room, to the rest."""
    least, room = limits
    counts, variances = children.counts.copy(), children.variances.copy()
    own = counts[:, : rest + 1]
    small = own < least
    if own.size - small.sum() > room:
        kth = np.partition(own.ravel(), own.size - room - 1)[own.size - room - 1]
        small |= own <= kth
    counts[:, rest + 1] = np.where(small, own, 0).sum(axis=1)
    lost = np.where(small, variances[:, : rest + 1], 0)
    variances[:, rest + 1] = lost.sum(axis=1)
    if leans:
        variances[:, rest + 1] *= 1 - LEAN
        variances[:, rest + 1] += LEAN * np.square(np.sqrt(lost).sum(axis=1))
    own[small] = 0
    variances[:, : rest + 1][small] = 0
    return _Children(counts, variances)


def _block(  # noqa: PLR0913, PLR0917 - the columns of a table
    groups: IntArray,
    parents: IntArray,
    symbols: IntArray,
    depth: int,
    counts: FloatArray,
    variances: FloatArray,
) -> PathTree:
    depths = np.full(len(groups), depth, dtype=np.int64)
    return PathTree(groups, parents, symbols, depths, counts, variances)


def _joined(blocks: list[PathTree]) -> PathTree:
    return PathTree(
        groups=np.concatenate([block.groups for block in blocks]),
        parents=np.concatenate([block.parents for block in blocks]),
        symbols=np.concatenate([block.symbols for block in blocks]),
        depths=np.concatenate([block.depths for block in blocks]),
        counts=np.concatenate([block.counts for block in blocks]),
        variances=np.concatenate([block.variances for block in blocks]),
    )
