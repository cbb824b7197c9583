"""What is lost when a value becomes a more general one, or is suppressed.

Source: Tamersoy 2011, definitions 4 to 6. Its worked figures disagree with its own
definition 4: there a value that changes loses all leaves of its ancestor, not the
difference to its own. Both are here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.codes.tree import CodeTree, Nodes

Reading = Literal["printed", "difference"]
"""``printed``: leaves(ancestor) / |A| where a value changes, as in figures 3 to 7 and
section IV.3.1; ``difference``: (leaves(ancestor) - leaves(node)) / |A|, by definition
4."""

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LossTable:
    """Losses of one attribute among the nodes that occur and their ancestors.

    Nodes are numbered anew, by their place here; 0 is the root. Losses are from 0 to 1
    (1 for a value that becomes the root).

    Attributes:
        tree: Of the attribute.
        nodes: Of the tree, by place.
        ancestors: Places by places: the lowest common ancestor's.
        replacing: Places by places: what a node loses that becomes another, which is
            its ancestor. What it says of other pairs means nothing.
    """

    tree: CodeTree
    nodes: Nodes
    ancestors: Nodes
    replacing: Table

    @cached_property
    def meeting(self) -> Table:
        """Places by places: what the former loses that meets the latter."""
        places = np.arange(len(self.nodes))
        return np.asarray(self.replacing[places[:, None], self.ancestors])

    @cached_property
    def merging(self) -> Table:
        """Places by places: what two lose that become one ancestor (definition 6)."""
        return np.asarray(self.meeting + self.meeting.T)

    @cached_property
    def suppressing(self) -> Table:
        """By place: what a value loses that becomes the root."""
        return self.replacing[:, 0].copy()

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each node of the tree that is here."""
        return {int(node): place for place, node in enumerate(self.nodes)}

    def place(self, name: str) -> int:
        """Return the place of a name.

        Raises:
            KeyError: Neither it nor what lies below it occurs.
        """
        return self.places[self.tree.node(name)]

    def name(self, place: int) -> str:
        """Return the name at a place."""
        return self.tree.name(int(self.nodes[place]))


def loss_table(tree: CodeTree, names: Iterable[str], reading: Reading) -> LossTable:
    """Return the losses among some values and their ancestors.

    Raises:
        KeyError: The tree has no such value.
    """
    used = [0, *(tree.node(name) for name in dict.fromkeys(names))]
    nodes = np.unique(tree.lineages[used])
    common = tree.lcas(nodes[:, None], nodes[None, :])
    ancestors = np.searchsorted(nodes, common)
    leaves = tree.leaves[nodes].astype(np.float64)
    lost = np.broadcast_to(leaves[None, :], common.shape)
    if reading == "difference":
        lost = lost - leaves[:, None]
    lost = np.where(np.eye(len(nodes), dtype=np.bool_), 0.0, lost)
    return LossTable(tree, nodes, ancestors, np.asarray(lost / tree.size))
