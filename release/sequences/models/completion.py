"""A drawn tree completed: every child of every grown node gets an estimate.

Kept children have their noisy counts, the others only that theirs are below the
threshold. A Markov chain, learnt from the tree itself, predicts each child; count and
prediction are joined as docs/proofs/prefix_tree.md says, and the chain is learnt anew.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from release.contract.intervals import WEIGHTED_QUANTILE, noise_variance
from release.contract.models import FloatArray, IntArray
from release.sequences.estimation.bands import Bands
from release.sequences.estimation.consistency import (
    Hidden,
    NoisyLevel,
    share_out,
    upward,
    upward_where_more,
)
from release.sequences.estimation.markov import Chain, order_for, smoothed
from release.sequences.estimation.posterior import Unseen, kept_surplus, seen
from release.sequences.models.drawn import DrawnLevel, DrawnTree

ROUNDS: Final = 6
_NO_VARIANCE: Final = 1e-9
LEAST_STRENGTH: Final = 100.0
STRENGTH: Final = 8.0
WIDER: Final = 1.25
"""The least variance of a kept count, in variances of its noise: counts are kept where
their noise was high (selection bias), so posteriors alone are too narrow."""


@dataclass(frozen=True, slots=True)
class Children:
    """All children of the grown nodes of one depth: a row a node, a column a symbol.

    Attributes:
        counts: Estimated units; each row sums to its node's count.
        variances: Mean squared error expected of each.
        kept: Which of them are in the release.
        states: The chain's state of each row's node.
        rows: Of each kept child.
        symbols: Of each kept child.
        grown: Which kept children have a row on the next level.
        doubts: How much of each count noise alone may have made.
    """

    counts: FloatArray
    variances: FloatArray
    kept: NDArray[np.bool_]
    states: IntArray
    rows: IntArray
    symbols: IntArray
    grown: NDArray[np.bool_]
    doubts: FloatArray


@dataclass(frozen=True, slots=True)
class Completed:
    """Estimates of all levels, and the chain that they agree on.

    Attributes:
        levels: From the first symbols on.
        chain: How sequences go on.
        root_variances: Squared error expected of how many units each group has.
    """

    levels: list[Children]
    chain: Chain
    root_variances: FloatArray


def complete(drawn: DrawnTree) -> Completed:
    """Return the completed tree; deterministic, of public values alone."""
    order = order_for(drawn.domain.symbols)
    strength = LEAST_STRENGTH + STRENGTH * max(level.scale for level in drawn.levels)
    noisy = [
        NoisyLevel(
            level.parents,
            level.values.astype(np.float64),
            np.full(len(level.values), noise_variance(level.scale)),
        )
        for level in drawn.levels
    ]
    tables = [Unseen.of(level.threshold, level.scale) for level in drawn.levels]
    chain = smoothed(order, _first_counts(drawn, order), strength)
    joined = noisy
    if not drawn.joins_all:
        joined = upward_where_more(noisy, drawn.domain.symbols + 1)
    done = _estimates(drawn, joined, tables, chain)
    for _ in range(ROUNDS):
        chain = smoothed(order, _counts(done.levels, chain), strength)
        if drawn.joins_all:
            hidden = _hidden(drawn, done.levels, tables, chain)
            joined = upward(noisy, hidden, alike=drawn.errs_alike)
        done = _estimates(drawn, joined, tables, chain)
    return done


def counted(completed: Completed) -> FloatArray:
    """Return how many units of kept nodes went on how: (states, |alphabet| + 1)."""
    shape = completed.chain.probabilities.shape
    found = np.zeros(shape[0] * shape[1])
    for level in completed.levels:
        pairs = level.states[level.rows] * shape[1] + level.symbols
        kept = level.counts[level.rows, level.symbols]
        found += np.bincount(pairs, kept, len(found))
    return found.reshape(shape)


def _hidden(
    drawn: DrawnTree, levels: list[Children], tables: list[Unseen], chain: Chain
) -> list[Hidden]:
    """Return what the unkept children of each level but the last hold together."""
    found = []
    below = zip(levels[1:], tables[1:], strict=True)
    for level, (children, table) in zip(drawn.levels, below, strict=False):
        wholes = children.counts.sum(axis=1)[:, None]
        likely = table.likely(wholes * chain.probabilities[children.states])
        means = np.where(children.kept, 0.0, likely.means).sum(axis=1)
        errors = _error_together(np.where(children.kept, 0.0, likely.variances))
        found.append(Hidden(np.flatnonzero(level.grown), means, errors))
    return found


def _error_together(hidden: FloatArray) -> FloatArray:
    """Return the squared error of each row's sum, of those of unkept children.

    They were all missed by the same threshold: their errors lean the same way, so
    their standard deviations are added, not their squares.
    """
    return np.asarray(np.square(np.sqrt(hidden).sum(axis=1)))


def _first_counts(drawn: DrawnTree, order: int) -> FloatArray:
    """Return what went on how, of kept children alone."""
    base = drawn.domain.symbols + 1
    size = base**order
    found = np.zeros(size * base)
    states = np.full(drawn.domain.groups, size - 1)
    for level in drawn.levels:
        pairs = states[level.parents] * base + level.symbols
        found += np.bincount(pairs, level.values, size * base)
        states = pairs % size
    return found.reshape(size, base)


def _estimates(
    drawn: DrawnTree, joined: list[NoisyLevel], tables: list[Unseen], chain: Chain
) -> Completed:
    groups = drawn.domain.groups
    states = np.full(groups, chain.start)
    first = drawn.levels[0]
    counts = np.maximum(np.bincount(first.parents, first.values, groups), 0)
    rows = np.arange(groups)
    found: list[Children] = []
    roots: FloatArray | None = None
    for level, noisy, table in zip(drawn.levels, joined, tables, strict=True):
        own = np.searchsorted(rows, level.parents)
        parents = own, counts, states
        children = _children(
            level, (noisy, table), parents, chain, surprises=drawn.joins_all
        )
        if drawn.errs_alike and not found:
            children = _summed_as_drawn(level, children)
        if found or drawn.bands is not None:
            totals = counts
            if not found and drawn.bands is not None:
                totals, roots = _root_counts(level, children, drawn.bands)
            moved = _leaning(children) if drawn.joins_all else children.variances
            shared = share_out(children.counts, moved, totals)
            children = replace(children, counts=shared)
        hidden = 0.0 if found else (level.threshold / 2) ** 2
        children = _with_errors(drawn, level, children, hidden)
        found.append(children)
        rows = np.flatnonzero(level.grown)
        states = chain.after(states[own], level.symbols)[rows]
        counts = children.counts[own, level.symbols][rows]
    if roots is None:  # the first format: nothing but the children's sum says so
        roots = found[0].variances.sum(axis=1)
    return Completed(found, chain, roots)


def _with_errors(
    drawn: DrawnTree, level: DrawnLevel, children: Children, hidden: float
) -> Children:
    """Return children with what they may be off by.

    Args:
        drawn: The tree.
        level: Theirs.
        children: As estimated.
        hidden: The least variance of those that were not kept.
    """
    least = np.where(children.kept, WIDER * noise_variance(level.scale), hidden)
    spread = np.maximum(children.variances, least)
    if drawn.joins_all:
        spread = spread + _disagreements(level, children)
    children = replace(children, variances=spread)
    return replace(children, doubts=_doubts(level, children))


def _disagreements(level: DrawnLevel, children: Children) -> FloatArray:
    """Return by how much drawn counts and what the tree says of them disagree, squared.

    Beyond what the noise explains: then what others are taken for is off, by as much as
    those that were kept together.
    """
    found = np.zeros(children.counts.shape)
    kept = children.rows, children.symbols
    apart = np.square(children.counts[kept] - level.values)
    found[kept] = np.maximum(apart - noise_variance(level.scale), 0.0)
    others = np.maximum((~children.kept).sum(axis=1, keepdims=True), 1)
    each = found.sum(axis=1, keepdims=True) / np.square(others)
    return np.asarray(found + np.where(children.kept, 0.0, each))


def _summed_as_drawn(level: DrawnLevel, children: Children) -> Children:
    """Return first symbols that sum to what was drawn, whatever a chain expects.

    Kept values lie above the threshold by as much as counts say, on mean, over all
    cells together. What they lie higher is divided by how unsure counts are.

    Source: docs/proofs/prefix_tree.md, "How many units".
    """
    scale, least = level.scale, level.threshold
    missing = -kept_surplus(children.counts, least, scale)
    missing[children.rows, children.symbols] += level.values - least + scale
    noise = max(noise_variance(scale), _NO_VARIANCE)
    shares = np.minimum(children.variances / noise, 1.0)
    slopes = np.exp(np.minimum((children.counts - least) / scale, 0.0))
    each = missing.sum(axis=1) / (1 + (shares * slopes).sum(axis=1))
    counts = np.maximum(children.counts + shares * each[:, None], 0.0)
    return replace(children, counts=counts)


def _leaning(children: Children) -> FloatArray:
    """Return how far children may be moved, those that were not kept all together."""
    hidden = np.where(children.kept, 0.0, children.variances)
    summed = np.maximum(hidden.sum(axis=1), _NO_VARIANCE)
    leaning = _error_together(hidden) / summed
    return np.asarray(
        children.variances * np.where(children.kept, 1.0, leaning[:, None])
    )


def _root_counts(
    level: DrawnLevel, children: Children, bands: Bands
) -> tuple[FloatArray, FloatArray]:
    """Return how many units each group has, and the squared error expected of that.

    By the first symbols and by the lengths, joined by inverse variance. Children that
    were not kept were all missed by the same threshold: their errors lean the same way,
    so their standard deviations are added where it is told how far the sum may be off.
    """
    sums, told = children.counts.sum(axis=1), bands.counts.sum(axis=1)
    likely = children.variances.sum(axis=1)
    weight = likely / (likely + bands.totals_variance)
    totals = np.maximum(sums + weight * (told - sums), 0)
    hidden = np.where(children.kept, 0.0, level.threshold / 2)
    own = np.maximum(children.variances, WIDER * noise_variance(level.scale))
    spread = np.where(children.kept, own, 0.0).sum(axis=1)
    spread += np.square(hidden.sum(axis=1))
    off = np.square(1 - weight) * spread + np.square(weight) * bands.totals_variance
    return np.asarray(totals), np.asarray(off)


def _children(
    level: DrawnLevel,
    told: tuple[NoisyLevel, Unseen],
    parents: tuple[IntArray, FloatArray, IntArray],
    chain: Chain,
    *,
    surprises: bool,
) -> Children:
    noisy, table = told
    rows, totals, states = parents
    expected = totals[:, None] * chain.probabilities[states]
    likely = table.likely(expected)
    counts, variances = likely.means, likely.variances
    kept = np.zeros(counts.shape, dtype=np.bool_)
    kept[rows, level.symbols] = True
    wholes = totals[rows] if surprises else None
    scales = np.sqrt(noisy.errors / 2) + 1e-9
    own = seen(noisy.values, expected[kept], scales, wholes)
    counts[kept], variances[kept] = own.means, own.variances
    nothing = np.zeros(counts.shape)
    return Children(
        counts, variances, kept, states, rows, level.symbols, level.grown, nothing
    )


def _doubts(level: DrawnLevel, children: Children) -> FloatArray:
    """Return how much of each count noise alone may have made: all or nothing.

    How far a value lies above the threshold has one law, whatever the count below it:
    the noise's own tail. So a count may be nothing where its value does not pass the
    threshold by more than a half-width.
    """
    kept = children.rows, children.symbols
    reach = WEIGHTED_QUANTILE * np.sqrt(children.variances[kept])
    found = np.zeros(children.counts.shape)
    in_doubt = level.values < level.threshold + reach
    found[kept] = np.where(in_doubt, children.counts[kept], 0.0)
    return found


def _counts(levels: list[Children], chain: Chain) -> FloatArray:
    shape = chain.probabilities.shape
    found = np.zeros(shape[0] * shape[1])
    for level in levels:
        pairs = level.states[:, None] * shape[1] + np.arange(shape[1])
        found += np.bincount(pairs.ravel(), level.counts.ravel(), len(found))
    return found.reshape(shape)
