"""Domain generalization hierarchies: a tree whose leaves are the values of a domain.

Source: Tamersoy, Anonymization of longitudinal electronic medical records (2011),
definitions 2, 3 and 5.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CodeTree:
    """Nodes by number, of which 0 is the root; parents come before their children.

    Attributes:
        names: Of the nodes, all different.
        parents: By node; the root is its own.
        levels: Names of the levels from the root down, or empty: then they have none.
    """

    names: tuple[str, ...]
    parents: Nodes
    levels: tuple[str, ...] = ()

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each name."""
        return {name: node for node, name in enumerate(self.names)}

    @cached_property
    def depths(self) -> Nodes:
        """Steps from the root, by node."""
        found = np.zeros(len(self.names), dtype=np.int64)
        for node in range(1, len(found)):
            found[node] = found[self.parents[node]] + 1
        return found

    @cached_property
    def leaves(self) -> Nodes:
        """How many leaves lie in the subtree of each node; 1 for a leaf itself."""
        found = np.ones(len(self.names), dtype=np.int64)
        found[self.parents[1:]] = 0
        for node in range(len(found) - 1, 0, -1):
            found[self.parents[node]] += found[node]
        return found

    @cached_property
    def lineages(self) -> Nodes:
        """Nodes by depths: the ancestor at each; from its own depth on, the node."""
        deepest = int(self.depths.max())
        found = np.zeros((len(self.names), deepest + 1), dtype=np.int64)
        for node in range(1, len(found)):
            found[node] = found[self.parents[node]]
            found[node, self.depths[node] :] = node
        return found

    @property
    def size(self) -> int:
        """The number of values in the domain: leaves of the root."""
        return int(self.leaves[0])

    def node(self, name: str) -> int:
        """Return the number of a name.

        Raises:
            KeyError: The tree has no such node.
        """
        return self.numbers[name]

    def name(self, node: int) -> str:
        """Return the name of a node."""
        return self.names[node]

    def level(self, node: int) -> str:
        """Return the name of a node's level; its depth where levels have no names."""
        depth = int(self.depths[node])
        return self.levels[depth] if self.levels else str(depth)

    def lca(self, left: int, right: int) -> int:
        """Return the lowest common ancestor of two nodes (definition 5)."""
        return int(self.lcas(np.array([left]), np.array([right]))[0])

    def lcas(self, left: Nodes, right: Nodes) -> Nodes:
        """Return the lowest common ancestors of nodes, pair by pair.

        Args:
            left: Nodes of any shape.
            right: Nodes of a shape that broadcasts with it.
        """
        ours, theirs = self.lineages[left], self.lineages[right]
        same = np.minimum.accumulate(ours == theirs, axis=-1)
        last = np.maximum(same.sum(axis=-1) - 1, 0)
        shape = np.broadcast_shapes(ours.shape, theirs.shape)
        ours = np.broadcast_to(ours, shape)
        return np.take_along_axis(ours, last[..., None], axis=-1)[..., 0]

    def covers(self, above: int, below: int) -> bool:
        """Whether a node is another one or an ancestor of it."""
        return bool(self.lineages[below, self.depths[above]] == above)

    def leaf_names(self, node: int) -> tuple[str, ...]:
        """Return the leaves in the subtree of a node, in the order of their numbers."""
        inside = self.lineages[:, self.depths[node]] == node
        is_leaf = self.leaves == 1
        is_leaf[self.parents[1:]] = False  # an only child's parent has one leaf, too
        return tuple(self.names[leaf] for leaf in np.flatnonzero(inside & is_leaf))


def tree_of(parents: Mapping[str, str], levels: Sequence[str] = ()) -> CodeTree:
    """Return the tree of a map from each node to its parent.

    Args:
        parents: By child; the one name that is no child is the root. Siblings keep the
            order of the map.
        levels: Names of the levels from the root down.

    Raises:
        ValueError: There is not one root, a circle, or more levels than names for them.

    >>> tree = tree_of({"401.1": "401", "401.9": "401"})
    >>> tree.name(tree.lca(tree.node("401.1"), tree.node("401.9")))
    '401'
    """
    roots = [name for name in dict.fromkeys(parents.values()) if name not in parents]
    if len(roots) != 1:
        message = f"a tree has one root, this one has {len(roots)}"
        raise ValueError(message)
    children: dict[str, list[str]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    names = list(_downwards(roots[0], children))
    if len(names) != len(parents) + 1:
        message = "some nodes have no way to the root: they are in a circle"
        raise ValueError(message)
    numbers = {name: node for node, name in enumerate(names)}
    above = [0, *(numbers[parents[name]] for name in names[1:])]
    tree = CodeTree(tuple(names), np.array(above, dtype=np.int64), tuple(levels))
    if levels and int(tree.depths.max()) >= len(levels):
        message = "the tree is deeper than its levels have names"
        raise ValueError(message)
    return tree


def _downwards(root: str, children: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Yield nodes, parents first, level by level."""
    level = [root]
    while level:
        yield from level
        level = [child for name in level for child in children.get(name, ())]
