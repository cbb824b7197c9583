"""Classes that were cut, and how some are joined again to what they were cut from.

Two classes may publish the same, such as the top of a hierarchy: then they are one.
What is monotone that has still; what is not, such as that no value is one of all
patients, it may lack. Then the smallest partition that has both is a class: it had the
principle before it was cut.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Ints


@dataclass(frozen=True, slots=True, eq=False)
class CutClasses:
    """Classes, and the partitions that were cut.

    Attributes:
        classes: By row: its class.
        low: Shape (columns, classes): the first code of each range.
        high: The last one.
        nodes: By class: which partition it is.
        parents: By partition: the one that it was cut from, of a lower number; -1 of
            the whole table, which is 0.
    """

    classes: Ints
    low: Ints
    high: Ints
    nodes: Ints
    parents: Ints

    def joined(self, groups: Iterable[Ints]) -> "CutClasses":
        """Return them with each group's classes in one, and all that lies with them.

        Args:
            groups: Classes that are to be one.
        """
        parents = self.parents.tolist()
        tops = list(range(len(parents)))
        whole = {_common(set(self.nodes[each].tolist()), parents) for each in groups}
        for node, parent in enumerate(parents):
            if parent >= 0 and (tops[parent] != parent or parent in whole):
                tops[node] = tops[parent]
        nodes, places = np.unique(np.array(tops)[self.nodes], return_inverse=True)
        low = np.full((len(self.low), len(nodes)), np.iinfo(np.int64).max)
        high = np.full_like(low, -1)
        for column in range(len(low)):
            np.minimum.at(low[column], places, self.low[column])
            np.maximum.at(high[column], places, self.high[column])
        return CutClasses(places[self.classes], low, high, nodes, self.parents)


def _common(nodes: set[int], parents: list[int]) -> int:
    """Return the smallest partition that has all of some."""
    while len(nodes) > 1:
        last = max(nodes)
        nodes = nodes - {last} | {parents[last]}
    return nodes.pop()
