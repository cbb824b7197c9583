"""Which nodes of the lattice have a principle.

A node has it only if it has it with columns left out (subset property), and whatever is
more general than a node that has it has it too (generalization property). So single
columns and pairs are searched first. On a path that nothing is known of, the first node
that has the principle is found by halving: all above it have it, all below the last one
that lacks it lack it. Nodes are counted by rolling up the smallest set below them.

Sources: LeFevre, DeWitt and Ramakrishnan 2005, section 3; for the paths Kohlmayer,
Prasser et al. 2012 (Flash).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from upstream.anonymization.arrays import Flags, Ints
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.incognito.frequencies import (
    Frequencies,
    FrequencySet,
    Node,
)
from upstream.anonymization.principles.principle import Principle

Subset = tuple[int, ...]
SUBSETS = (1, 2)
"""Columns of the subsets that are searched before all columns; on Adult, more of them
cost more counting than they save.
"""
MOST_ENTRIES = 2_000_000
"""Entries of the frequency sets that are kept of one subset: 50 MB."""


@dataclass
class Search:
    """A search of the lattices.

    Attributes:
        frequencies: Of the table.
        heights: By column: how many levels it has.
        principle: What classes must have; what of it is monotone is searched by.
        most_suppressed: Rows that may be suppressed because their class lacks it.
        checked: How many nodes were counted so far.
    """

    frequencies: Frequencies
    heights: Sequence[int]
    principle: Principle
    most_suppressed: int
    checked: int = 0

    def holding(self) -> Flags:
        """Return for each node of all columns whether it has the principle.

        Shape (levels of the first column, levels of the second, ...).
        """
        everything = tuple(range(len(self.heights)))
        if not self.principle.is_monotone:
            part = replace(self, principle=self.principle.monotone)
            candidates = part.holding()
            self.checked += part.checked
            return self._searched(everything, candidates)
        if self.most_suppressed and not self.principle.is_absorbing:
            return self._searched(everything, self._candidates(everything, {}))
        known: dict[Subset, Flags] = {}
        for size in (*SUBSETS, len(self.heights)):
            known |= {
                subset: self._searched(subset, self._candidates(subset, known))
                for subset in combinations(everything, size)
            }
        return known[everything]

    def broken_rows(self, classes: Classes) -> int:
        """Return how many rows are in classes that lack the principle."""
        lacking = ~self.principle.holds(classes)
        return int(classes.sizes()[lacking].sum())

    def _candidates(self, subset: Subset, known: Mapping[Subset, Flags]) -> Flags:
        """Return the nodes that have the principle in every smaller subset known."""
        candidates = np.ones([self.heights[column] for column in subset], bool)
        for smaller, holding in known.items():
            if set(smaller) < set(subset):
                left_out = [p for p, c in enumerate(subset) if c not in smaller]
                candidates &= np.expand_dims(holding, left_out)
        return candidates

    def _searched(self, subset: Subset, candidates: Flags) -> Flags:
        """Return which candidates have the principle."""
        holding = np.zeros_like(candidates)
        counts = _Counts(self, subset)
        is_open = candidates.copy()
        is_upward = self.principle.is_monotone and (
            self.principle.is_absorbing or not self.most_suppressed
        )
        for node in _by_height(candidates):
            if not is_upward:  # a node may lack what a less general one has
                holding[node] = counts.holds(node)
            elif is_open[node]:
                _bisect(_path(node, is_open), counts, is_open, holding)
        return holding


class _Counts:
    """Frequency sets of one subset's nodes, as far as they are kept."""

    def __init__(self, search: Search, subset: Subset) -> None:
        self.search = search
        self.subset = subset
        bottom = (0,) * len(subset)
        self._nodes = np.zeros((1, len(subset)), np.int64)  # its free rows are unread
        self._sets = [search.frequencies.at(subset, bottom)]
        self._entries = 0

    def holds(self, node: Node) -> bool:
        """Whether a node has the principle; counted by roll-up of one below it."""
        self.search.checked += 1
        is_below = (self._nodes[: len(self._sets)] <= node).all(axis=1)
        sets = (self._sets[place] for place in np.flatnonzero(is_below).tolist())
        smallest = min(sets, key=lambda found: len(found.rows))
        found = self.search.frequencies.at(self.subset, node, smallest)
        if self._entries + len(found.rows) <= MOST_ENTRIES:
            self._keep(node, found)
        broken = self.search.broken_rows(found.classes)
        return broken <= self.search.most_suppressed

    def _keep(self, node: Node, found: FrequencySet) -> None:
        """Keep a node's frequency set to roll it up later."""
        if len(self._sets) == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.zeros_like(self._nodes)])
        self._nodes[len(self._sets)] = node
        self._sets.append(found)
        self._entries += len(found.rows)


def _bisect(
    path: Sequence[Node], counts: _Counts, is_open: Flags, holding: Flags
) -> None:
    """Find where on a path the principle begins, and what follows for other nodes."""
    low, high = 0, len(path)
    while low < high:
        middle = (low + high) // 2
        node = path[middle]
        if counts.holds(node):
            above = tuple(slice(level, None) for level in node)
            holding[above], is_open[above] = True, False
            high = middle
        else:
            is_open[tuple(slice(level + 1) for level in node)] = False
            low = middle + 1


def _path(node: Node, is_open: Flags) -> list[Node]:
    """Return a path upward from a node over nodes that nothing is known of."""
    path = [node]
    while True:
        steps = (
            (*node[:place], level + 1, *node[place + 1 :])
            for place, level in enumerate(node)
            if level + 1 < is_open.shape[place]
        )
        following = next((step for step in steps if is_open[step]), None)
        if following is None:
            return path
        path.append(following)
        node = following


def _by_height(candidates: Flags) -> list[Node]:
    """Return nodes by the sum of their levels, lowest first."""
    nodes = np.argwhere(candidates)
    order = np.argsort(nodes.sum(axis=1), kind="stable")
    return [tuple(node) for node in nodes[order].tolist()]


def minimal_nodes(holding: Flags) -> list[Node]:
    """Return the nodes that hold while no less general neighbour does, in order."""
    minimal = holding.copy()
    for axis in range(holding.ndim):
        below: Ints = np.roll(holding, 1, axis)
        below[(slice(None),) * axis + (0,)] = False
        minimal &= ~below
    return [tuple(node) for node in np.argwhere(minimal).tolist()]
