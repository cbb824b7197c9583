"""Orders of cells in which near cells stay near: what trees and buckets run along."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from release.contract.models import IntArray
from release.cubes.models.trees.hierarchy import Hierarchy

ROWS: Final = "rows"
HILBERT: Final = "hilbert"
BLOCKS: Final = "blocks"

Fanouts = tuple[tuple[int, ...], ...]
"""For each level, from the top, how many parts each axis of a block is cut into."""


def hilbert_order(shape: tuple[int, ...]) -> IntArray:
    """Return the cells of a plane along a Hilbert curve.

    The curve runs over the least square of a power of two that holds the plane; what
    lies outside the plane is left out.

    Source: Hilbert 1891; the turn-and-flip form of Warren's Hacker's Delight, ch. 16.
    """
    first, second = np.indices(shape).reshape(2, -1)
    place = np.zeros(first.size, dtype=np.int64)
    side = 1 << max(0, (max(shape) - 1).bit_length())
    half = side // 2
    while half:
        right, upper = (first & half) > 0, (second & half) > 0
        place += half * half * ((3 * right) ^ upper)
        flip = ~upper & right
        turned_first = np.where(flip, side - 1 - first, first)
        turned_second = np.where(flip, side - 1 - second, second)
        first = np.where(upper, turned_first, turned_second)
        second = np.where(upper, turned_second, turned_first)
        half //= 2
    return np.argsort(place, kind="stable")


def block_tree(
    shape: tuple[int, ...], fanouts: Fanouts
) -> tuple[IntArray | None, Hierarchy]:
    """Return an order of cells by nested blocks, and the tree of those blocks.

    Args:
        shape: Of the cube.
        fanouts: Per level and axis; blocks at an edge may be smaller.

    Returns:
        The order (None: C order) and the tree whose leaves are the cells.
    """
    levels = [np.zeros(int(np.prod(shape)), dtype=np.int64)]
    for level in range(len(fanouts) - 1):
        sides = [
            int(np.prod([cuts[axis] for cuts in fanouts[level + 1 :]], dtype=object))
            for axis in range(len(shape))
        ]
        levels.append(_block_numbers(shape, sides))
    order = np.lexsort(levels[::-1])
    return (None if len(shape) == 1 else order), _nested(
        [numbers[order] for numbers in levels[1:]], len(order)
    )


def even_tree(leaves: int, fanouts: Sequence[int]) -> Hierarchy:
    """Return a tree over leaves in order: below the top, all nodes of a level alike."""
    starts: list[IntArray] = []
    width = leaves
    for fanout in reversed(fanouts[1:]):
        starts.insert(0, np.arange(0, width, fanout))
        width = len(starts[0])
    return Hierarchy(tuple(starts), leaves)


def _block_numbers(shape: tuple[int, ...], sides: Sequence[int]) -> IntArray:
    counts = [-(-n // side) for n, side in zip(shape, sides, strict=True)]
    numbers = np.zeros(1, dtype=np.int64)
    for n, side, count in zip(shape, sides, counts, strict=True):
        numbers = np.add.outer(numbers * count, np.arange(n) // side).ravel()
    return numbers


def _nested(levels: Sequence[IntArray], leaves: int) -> Hierarchy:
    """Return the tree of runs of equal numbers; each level refines the one above."""
    firsts = []
    changed = np.zeros(leaves, dtype=np.bool_)
    changed[0] = True
    for numbers in levels:
        changed = changed.copy()
        changed[1:] |= numbers[1:] != numbers[:-1]
        firsts.append(np.flatnonzero(changed))
    firsts.append(np.arange(leaves))
    starts = [np.searchsorted(below, above) for above, below in pairwise(firsts)]
    return Hierarchy(tuple(starts), leaves)
