"""Counts of a noisy tree made to agree: none negative, children sum to their parent."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray

_LEAST: Final = 1e-9
"""Taken for no variance at all, or no count: weights stay defined."""

_ROUNDS: Final = 4
"""Rounds that move children by their variances, before the remainder is scaled away."""


@dataclass(frozen=True, slots=True)
class NoisyLevel:
    """The kept nodes of one depth.

    Attributes:
        parents: For each, the place of its parent on the level above; ascending.
        values: Noisy counts.
        variances: Of errors that have nothing in common.
        leans: Standard deviations of errors that lean the same way in all nodes of a
            value of the split: of what was taken for children that one threshold hid;
            None: there are none.
    """

    parents: IntArray
    values: FloatArray
    variances: FloatArray
    leans: FloatArray | None = None

    @property
    def leaning(self) -> FloatArray:
        """Return ``leans``, 0 where there are none."""
        return np.zeros(len(self.values)) if self.leans is None else self.leans

    @property
    def errors(self) -> FloatArray:
        """Return the expected squared error of each count."""
        return np.asarray(self.variances + np.square(self.leaning))


@dataclass(frozen=True, slots=True)
class Hidden:
    """What children that were not kept hold together, by the nodes that they are of.

    Attributes:
        nodes: Places of nodes whose children were looked for.
        means: Expected counts.
        variances: Expected squared errors of them.
    """

    nodes: IntArray
    means: FloatArray
    variances: FloatArray


def upward(
    levels: list[NoisyLevel], hidden: list[Hidden], *, alike: bool = True
) -> list[NoisyLevel]:
    """Return levels of which each node is joined with what its children say.

    A node has as many units as its children together, those that were not kept
    included: it becomes the mean of both, whichever is more. To join only where the
    kept ones hold more would add to counts, again at each depth.

    Args:
        levels: From the first symbols on.
        hidden: Of each level but the last, what its nodes' unkept children hold.
        alike: Whether nodes of a group are joined together, for what is taken for
            their hidden children errs alike; else each by itself, by inverse variance,
            as earlier releases are read.

    Source: docs/proofs/prefix_tree.md.
    """
    joined, groups = list(levels), _groups(levels)
    for depth in range(len(levels) - 1, 0, -1):
        above, below = joined[depth - 1], joined[depth]
        own = groups[depth - 1] if alike else None
        joined[depth - 1] = _joined(above, below, hidden[depth - 1], own)
    return joined


def upward_where_more(levels: list[NoisyLevel], base: int) -> list[NoisyLevel]:
    """Return levels as earlier releases are read, which go on saying what they said.

    Nodes are joined with their kept children where these are all that there can be,
    or hold more.

    Args:
        levels: From the first symbols on.
        base: How many children a node can have.
    """
    joined = list(levels)
    for depth in range(len(levels) - 1, 0, -1):
        above, below = joined[depth - 1], joined[depth]
        size = len(above.values)
        sums = np.bincount(below.parents, below.values, size)
        children = np.bincount(below.parents, minlength=size)
        meets = (children == base) | ((children > 0) & (sums > above.values))
        nodes = np.flatnonzero(meets)
        nothing = np.zeros(len(nodes))
        none = Hidden(nodes, nothing, nothing)
        joined[depth - 1] = _joined(above, below, none, None)
    return joined


def _groups(levels: list[NoisyLevel]) -> list[IntArray]:
    """Return the place of the split's value of each node, level by level."""
    found = [levels[0].parents]
    for level in levels[1:]:
        found.append(found[-1][level.parents])
    return found


def _joined(
    level: NoisyLevel, below: NoisyLevel, hidden: Hidden, groups: IntArray | None
) -> NoisyLevel:
    """Return a level whose nodes are joined with what their children say.

    What is taken for hidden children errs in each node by itself, and as far again in
    all nodes of a group alike, for one chain expects them. How far they err alike shows
    in how far all nodes disagree with their children: that is taken off. So the sum of
    a group's nodes stays about what was drawn, whatever the chain expects.
    """
    nodes, size = hidden.nodes, len(level.values)
    sums = np.bincount(below.parents, below.values, size)[nodes] + hidden.means
    counted = np.bincount(below.parents, below.variances, size)[nodes]
    apart = np.bincount(below.parents, below.leaning, size)[nodes]
    leaning = apart + np.sqrt(hidden.variances)
    values, variances = level.values.copy(), level.variances.copy()
    leans, own = level.leaning.copy(), variances[nodes]
    spread = counted + np.square(leaning)
    both = np.maximum(spread + own, _LEAST)
    weight, missing = own / both, sums - values[nodes]
    values[nodes] += weight * missing
    variances[nodes] = weight * spread
    leans[nodes] = weight * leaning
    if groups is None:
        variances[nodes] -= np.square(leans[nodes])
        return NoisyLevel(level.parents, values, variances, leans)
    group = groups[nodes]
    known = 1 + np.bincount(group, np.square(leaning) / both)
    alike = np.bincount(group, leaning * missing / both) / known
    values[nodes] -= leans[nodes] * alike[group]
    leans[nodes] /= np.sqrt(known[group])
    return NoisyLevel(level.parents, values, variances, leans)


def share_out(
    estimates: FloatArray, variances: FloatArray, totals: FloatArray
) -> FloatArray:
    """Return estimates that are not negative and sum to each row's total.

    Args:
        estimates: (rows, children), not negative.
        variances: Of the estimates: who is less sure moves more.
        totals: One a row, not negative.
    """
    counts = estimates
    for _ in range(_ROUNDS):
        missing = totals - counts.sum(axis=1)
        moves = (counts > 0) | (missing > 0)[:, None]
        weights = np.where(moves, variances + _LEAST, 0.0)
        rate = missing / np.maximum(weights.sum(axis=1), _LEAST**2)
        counts = np.maximum(counts + weights * rate[:, None], 0)
    sums = counts.sum(axis=1)
    even = np.full(counts.shape, 1 / counts.shape[1])
    some = (sums > _LEAST)[:, None]
    shares = np.where(some, counts / np.maximum(sums, _LEAST)[:, None], even)
    return np.asarray(shares * totals[:, None])
