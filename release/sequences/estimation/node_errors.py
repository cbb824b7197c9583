"""How far off each node of a tree is by itself, beside the numbers that it was made of.

Source: docs/proofs/prefix_tree.md, "Who passed".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from release.contract.models import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class NodeErrors:
    """One entry a node.

    Attributes:
        variances: Squared error. What is left of a path beside the children that noise
            chose is as far off as the path and those children are together.
        doubts: How much of each count noise alone may have made.
        sure: Squared error of what is not in doubt.
        held_back: How much more each may be, since nodes that noise may have made lie
            beside the way to it: what they have was taken from it.
    """

    variances: FloatArray
    doubts: FloatArray
    sure: FloatArray
    held_back: FloatArray


def node_errors(
    parents: IntArray,
    is_rest: NDArray[np.bool_],
    variances: FloatArray,
    doubts: FloatArray,
    levels: Sequence[slice],
) -> NodeErrors:
    """Return how far off nodes are, of a tree level by level.

    Args:
        parents: The place of each node's parent; roots have their own.
        is_rest: Whether a node is what its parent has besides the others.
        variances: Of the counts by themselves.
        doubts: How much of each count noise alone may have made.
        levels: Of the nodes below the roots.
    """
    size, below = len(parents), slice(levels[0].start, None) if levels else slice(0, 0)
    sure = np.where(doubts > 0, 0.0, variances)
    is_step = ~is_rest[below]
    owners = parents[below][is_step]
    spread = np.bincount(owners, sure[below][is_step], size) + variances
    beside = np.bincount(parents[below], doubts[below], size)
    held_back = np.zeros(size)
    for depth, level in enumerate(levels):
        above = parents[level]
        more = beside[above] - doubts[level]
        if not depth:  # how many units there are is the sum of the first symbols
            more = np.where(is_rest[level], more, 0.0)
        held_back[level] = held_back[above] + more
    rests = np.flatnonzero(is_rest)
    told, errors, own = variances.copy(), sure.copy(), doubts.copy()
    errors[rests] = spread[parents[rests]]
    own[rests] = doubts[parents[rests]]
    told[rests] = np.maximum(variances[rests], errors[rests])
    return NodeErrors(told, own, errors, np.maximum(held_back, 0.0))
