"""A published prefix tree, and what may be asked of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from release.models.contract import Facts, FloatArray, IntArray, Table
from release.models.intervals import WEIGHTED_QUANTILE
from release.sequences.completion import Completed, complete
from release.sequences.contract import Estimate, Run
from release.sequences.domain import SequenceDomain
from release.sequences.grams import GramSums, by_length
from release.sequences.markov import Chain
from release.sequences.models.drawn import DrawnTree
from release.sequences.models.growth import FullTree, full_tree, published
from release.sequences.paths import PathTree

MODEL_ERROR: Final = 2.0
"""Half-width of what was not counted but foretold, relative to it."""

FLOOR: Final = 0.5
"""Half-width of what was foretold to be nothing, in scales of the noise."""


@dataclass(frozen=True)
class PrefixTreeModel:
    """Beginnings that enough units share; a chain learnt from them tells the rest.

    Attributes:
        drawn: As published.

    Source: docs/proofs/prefix_tree.md.
    """

    drawn: DrawnTree

    @classmethod
    def rebuilt(
        cls,
        domain: SequenceDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "PrefixTreeModel":
        """Return the model that wrote these facts and tables."""
        return cls(DrawnTree.rebuilt(domain, facts, tables))

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return "prefix_tree"

    @property
    def domain(self) -> SequenceDomain:
        """What the release ranges over."""
        return self.drawn.domain

    def facts(self) -> Facts:
        """Return each level's number of nodes, scale and threshold."""
        return self.drawn.facts()

    def tables(self) -> Mapping[str, Table]:
        """Return one row a node, as drawn."""
        return self.drawn.tables()

    def paths(self) -> PathTree:
        """Return the kept nodes, made to agree; made once."""
        return self._paths

    def occurrences(self, runs: Sequence[Run]) -> list[Estimate]:
        """Return how often each run occurs: in the tree, and beyond by the chain.

        Raises:
            ValueError: A run has no symbol.
        """
        found = [Estimate(0.0, 0.0)] * len(runs)
        for length, places in by_length(runs).items():
            if length == 0:
                message = "a run has at least one symbol"
                raise ValueError(message)
            told = self._told(np.array([runs[place] for place in places]))
            for place, estimate in zip(places, told, strict=True):
                found[place] = estimate
        return found

    def _told(self, runs: IntArray) -> list[Estimate]:
        chain, length = self._chain, runs.shape[1]
        sums = self._grams.sums(runs)
        short = min(length, chain.order)
        outside = self._visits(short)[chain.codes(runs[:, :short])]
        for place in range(short, length):
            before = sums[place - 1][1] if place else self._full.open_ends.sum()
            open_ends = outside + before
            outside = open_ends * chain.chance(runs[:, : place + 1])
        inside, _, variances, hidden = sums[-1]
        widths = WEIGHTED_QUANTILE * np.sqrt(variances)
        widths += MODEL_ERROR * (outside + hidden) + FLOOR * self._scale
        return [
            Estimate(float(value), float(width))
            for value, width in zip(inside + outside, widths, strict=True)
        ]

    def _visits(self, symbols: int) -> FloatArray:
        """Return how often each run of at most m symbols ends outside the tree."""
        base = self._chain.base
        return np.asarray(self._visited.reshape(-1, base**symbols).sum(axis=0))

    @property
    def _scale(self) -> float:
        return max(level.scale for level in self.drawn.levels)

    @cached_property
    def _completed(self) -> Completed:
        return complete(self.drawn)

    @cached_property
    def _chain(self) -> Chain:
        """How sequences go on beyond the tree: for h symbols more, or less, on mean."""
        return self._completed.chain.ending(1 / (1 + self.domain.max_length))

    @cached_property
    def _full(self) -> FullTree:
        return full_tree(self.domain, self._completed)

    @cached_property
    def _paths(self) -> PathTree:
        return published(self.domain, self._full)

    @cached_property
    def _visited(self) -> FloatArray:
        chain, full = self._chain, self._full
        first = np.bincount(full.states, full.open_ends, len(chain.chances))
        return chain.visits(np.asarray(first, dtype=np.float64))

    @cached_property
    def _grams(self) -> GramSums:
        full = self._full
        hidden = np.where(full.kept, 0.0, full.counts)
        spread = np.where(full.kept, full.variances, 0.0)
        values = np.array([full.counts, full.open_ends, spread, hidden])
        return GramSums(
            full.parents, full.symbols, full.depths, self.domain.symbols + 1, values
        )
