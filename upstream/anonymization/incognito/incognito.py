"""Incognito: every full-domain generalization that has a principle, and the best.

A full-domain generalization takes each column to one level of its hierarchy, a node of
the lattice of levels; so it is easily explained, and loses more than Mondrian does.
Rows of classes that lack the principle may be suppressed up to a threshold; they are
not published, and a suppressed value loses all (1). A more general node then suppresses
fewer rows only if a class that has the principle keeps it whatever joins it. That is so
for k-anonymity and distinct l-diversity; for entropy and recursive l-diversity and for
t-closeness it is not, and every node is counted. What is asked of patients with several
rows is not monotone: each of the nodes that have the rest is counted.

A published node is the least general one, which tells more than its values do (Wong et
al. 2007, minimality): this is no differential privacy.

Sources: LeFevre, DeWitt and Ramakrishnan 2005; Machanavajjhala et al. 2006 (with
l-diversity in place of k-anonymity).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from upstream.anonymization.arrays import Flags, Floats, Ints
from upstream.anonymization.columns.columns import HierarchyColumn
from upstream.anonymization.columns.tables import (
    AnonymizedTable,
    full_domain_table,
)
from upstream.anonymization.errors import UnreachableError
from upstream.anonymization.hierarchies.hierarchy import Hierarchy
from upstream.anonymization.incognito.frequencies import Frequencies, Node
from upstream.anonymization.incognito.lattice import Search, minimal_nodes
from upstream.anonymization.principles.principle import Principle

MOST_NODES = 2_000_000
"""Nodes of the lattice; each takes a byte, and up to a few milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class FullDomain:
    """What was found.

    Attributes:
        nodes: All nodes that have the principle, the suppressed rows left out; levels
            in the order of the columns.
        minimal: Those of them that are not more general than another.
        chosen: The one with the least loss; of equals, the lowest levels.
        loss: Of the chosen one: LM's loss, the mean over columns and rows, 1 for rows
            that are suppressed.
        suppressed: Rows that the chosen one suppresses.
        checked: How many nodes were counted.
        table: What the chosen one publishes.
    """

    nodes: tuple[Node, ...]
    minimal: tuple[Node, ...]
    chosen: Node
    loss: float
    suppressed: int
    checked: int
    table: AnonymizedTable


def incognito(
    columns: Sequence[HierarchyColumn],
    principle: Principle,
    *,
    suppression: Fraction = Fraction(0),
) -> FullDomain:
    """Return all full-domain generalizations that have the principle.

    Args:
        columns: The quasi-identifiers, at least one; all of one length, at least 1 row.
        principle: What every published class must have; some of it is monotone.
        suppression: The largest share of rows that may be suppressed, below 1.

    Raises:
        UnreachableError: No node has the principle.
        ValueError: Nothing of the principle is monotone, the lattice has more than
            2,000,000 nodes, or there is no column or no row.
    """
    _check(columns, principle, suppression)
    frequencies = Frequencies(columns, principle.sensitive)
    rows = len(columns[0].codes)
    heights = [column.domain.height + 1 for column in columns]
    most = int(suppression * rows)
    search = Search(frequencies, heights, principle, most)
    holding = search.holding()
    if not holding.any():
        raise UnreachableError(str(principle))
    choice = _Choice(columns, search, [_losses(column.domain) for column in columns])
    chosen, loss = choice.best(holding)
    is_kept = choice.kept(chosen)
    return FullDomain(
        tuple(tuple(node) for node in np.argwhere(holding).tolist()),
        tuple(minimal_nodes(holding)),
        chosen,
        loss,
        int(frequencies.weights[~is_kept].sum()),
        search.checked,
        full_domain_table(columns, chosen, is_kept[frequencies.distinct]),
    )


def _check(
    columns: Sequence[HierarchyColumn], principle: Principle, suppression: Fraction
) -> None:
    """Refuse what cannot be searched."""
    lengths = {len(column.codes) for column in columns}
    if len(lengths) != 1 or 0 in lengths:
        message = "name columns of one length with at least one row"
        raise ValueError(message)
    if not principle.monotone.is_monotone:
        message = f"{principle} is not monotone: nodes cannot be left out"
        raise ValueError(message)
    if not 0 <= suppression < 1:
        message = f"suppression is {suppression}: it must be 0 or more, and below 1"
        raise ValueError(message)
    nodes = prod(column.domain.height + 1 for column in columns)
    if nodes > MOST_NODES:
        message = (
            f"{nodes:,} nodes, more than {MOST_NODES:,}: take fewer columns or levels"
        )
        raise ValueError(message)


@dataclass
class _Choice:
    """Chooses the node with the least loss."""

    columns: Sequence[HierarchyColumn]
    search: Search
    losses: Sequence[Floats]

    def __post_init__(self) -> None:
        frequencies = self.search.frequencies
        self.rows = int(frequencies.weights.sum())
        self.codes = [column.codes[frequencies.rows] for column in self.columns]
        counts = [
            np.bincount(codes, weights=frequencies.weights, minlength=losses.shape[1])
            for codes, losses in zip(self.codes, self.losses, strict=True)
        ]
        self.means = [
            losses @ count / self.rows
            for losses, count in zip(self.losses, counts, strict=True)
        ]

    def best(self, holding: Flags) -> tuple[Node, float]:
        """Return the node that loses least and its loss.

        What a node would lose without suppressing is no more than it does lose; so
        nodes are looked at from the least of that until it is more than the best loss.
        """
        nodes = np.argwhere(holding)
        means = [mean[nodes[:, place]] for place, mean in enumerate(self.means)]
        bounds = np.sum(means, axis=0) / len(self.columns)
        best: tuple[float, Node] | None = None
        for place in np.argsort(bounds, kind="stable").tolist():
            if best is not None and bounds[place] > best[0] + 1e-12:
                break
            node = tuple(nodes[place].tolist())
            loss = self.loss(node) if self.search.most_suppressed else bounds[place]
            if best is None or (round(loss, 12), node) < (round(best[0], 12), best[1]):
                best = float(loss), node
        if best is None:
            message = "no node holds"
            raise ValueError(message)
        return best[1], best[0]

    def kept(self, node: Node) -> Flags:
        """Return by distinct row whether its class at a node has the principle."""
        frequencies, columns = self.search.frequencies, range(len(self.columns))
        found = frequencies.at(columns, node)
        holds = self.search.principle.holds(found.classes)
        codes, _ = frequencies.classes_at(columns, node)
        kept: Flags = holds[codes]
        return kept

    def loss(self, node: Node) -> float:
        """Return LM's loss of a node, with 1 for each suppressed value."""
        kept = self.kept(node)
        weights: Ints = self.search.frequencies.weights
        each = [
            losses[level][codes]
            for losses, level, codes in zip(self.losses, node, self.codes, strict=True)
        ]
        lost = np.where(kept, np.sum(each, axis=0), len(each)) @ weights
        return float(lost / len(each) / self.rows)


def _losses(hierarchy: Hierarchy) -> Floats:
    """Return LM's loss of a hierarchy; shape (levels, leaves)."""
    levels = np.arange(hierarchy.height + 1)[:, None]
    return hierarchy.losses_at(levels, np.arange(hierarchy.size))
