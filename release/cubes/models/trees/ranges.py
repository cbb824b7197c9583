"""Variances of sums over ranges of leaves, in time with a tree's height alone."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from release.contract.models import IntArray, Roll
from release.cubes.models.trees.hierarchy import Combined, Hierarchy

MOST_RUNS: Final = 256


@dataclass(frozen=True, slots=True)
class Runs:
    """Disjoint ranges of cells, at most one a group.

    Attributes:
        groups: Of each range.
        firsts: Its first cell.
        lasts: The cell after its last one.
    """

    groups: IntArray
    firsts: IntArray
    lasts: IntArray


def runs_of(roll: Roll) -> Runs | None:
    """Return a line's question as few ranges, or None where it is none."""
    if len(roll.codes) != 1 or roll.mask is not None or not len(roll.codes[0]):
        return None
    codes = roll.codes[0]
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    if len(changes) > MOST_RUNS:
        return None
    firsts = np.concatenate([[0], changes])
    lasts = np.concatenate([changes, [len(codes)]])
    groups = codes[firsts]
    kept = groups >= 0
    groups = groups[kept]
    if len(np.unique(groups)) < len(groups):
        return None
    return Runs(groups, firsts[kept], lasts[kept])


@dataclass(frozen=True, slots=True)
class Edge:
    """A node of which an answer takes a part.

    Attributes:
        node: Its number on its level.
        slope: What of its fitted value the answer takes.
    """

    node: int
    slope: float


def range_variance(
    tree: Hierarchy, combined: Combined, first: int, last: int, edges: list[Edge]
) -> float:
    """Return the exact variance of a sum of least-squares leaves.

    Args:
        tree: The tree.
        combined: Of the tree.
        first: The first leaf that counts wholly.
        last: The leaf after the last one that does.
        edges: Leaves before and after, of which a part counts.

    A node whose children all count wholly counts wholly: only the two nodes at the ends
    of each level need work. The recursion is that of ``answer_variances``.
    Source: docs/proofs/hb.md.
    """
    residual = 0.0
    for level in range(len(tree.starts) - 1, -1, -1):
        starts, spread = tree.starts[level], combined.variances[level + 1]
        touched = {edge.node for edge in edges}
        ends = {*touched, *((first, last - 1) if first < last else ())}
        parents = {int(np.searchsorted(starts, node, "right")) - 1 for node in ends}
        above: list[Edge] = []
        for parent in sorted(parents):
            low = int(starts[parent])
            high = int(starts[parent + 1]) if parent + 1 < len(starts) else len(spread)
            if first <= low and high <= last:
                continue
            slopes = np.zeros(high - low)
            slopes[max(first, low) - low : max(min(last, high), low) - low] = 1.0
            for edge in edges:
                if low <= edge.node < high:
                    slopes[edge.node - low] = edge.slope
            own = spread[low:high]
            taken = float(slopes @ own)
            slope = taken / float(own.sum())
            residual += max(0.0, float((slopes * slopes) @ own) - taken * slope)
            above.append(Edge(parent, slope))
        first = int(np.searchsorted(starts, first, "left"))
        ended = int(np.searchsorted(starts, last, "right")) - 1
        last = len(starts) if last == len(spread) else ended
        edges = above
    top = combined.variances[0]
    whole = float(top[first:last].sum()) if first < last else 0.0
    return residual + whole + sum(e.slope**2 * float(top[e.node]) for e in edges)
