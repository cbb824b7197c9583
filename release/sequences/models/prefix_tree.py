"""A published prefix tree, and what may be asked of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray, PublicFacts, Table
from release.contract.sequence_domain import SequenceDomain
from release.sequences.contract import Estimate, Run
from release.sequences.estimation.bands import Bands
from release.sequences.estimation.grams import GramSums, by_length
from release.sequences.estimation.paths import PathTree
from release.sequences.models.beyond import Beyond
from release.sequences.models.completion import Completed, complete, counted
from release.sequences.models.drawn import DrawnTree
from release.sequences.models.growth import FullTree, full_tree, published
from release.sequences.models.uncounted import UncountedBounds, totals_of

MODEL_ERROR: Final = 2.0
"""Half-width of a count that the chain predicted, relative to that count."""

TRUSTED: Final = 30.0
"""Shrinkage: after a symbol that was counted n times, predictions are multiplied by
n / (n + TRUSTED s), s being the scale of the first level's noise."""

LEAST_POWER: Final = 0.2
MOST_POWER: Final = 0.45
"""Exponents of a predicted run's share of its rarest symbol, where the chain learnt
nothing and where it learnt all."""

SPARE: Final = 2.25
"""How often a run may occur at the most, in those parts of its rarest symbol, is this
less how far what follows its symbols was learnt, from 0 to 1."""

_NOTHING: Final = 1e-12

FLOOR: Final = 1.0
"""Half-width of a count predicted to be 0, in the largest scale of the noise."""


@dataclass(frozen=True)
class PrefixTreeModel:
    """Beginnings that enough units share; a chain learnt from them tells the rest.

    Attributes:
        published: As drawn.

    Source: docs/proofs/prefix_tree.md.
    """

    published: DrawnTree

    @cached_property
    def drawn(self) -> DrawnTree:
        """What was drawn, as estimates read it."""
        return self.published.as_read()

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
        return self.published.domain

    def facts(self) -> PublicFacts:
        """Return each level's number of nodes, scale and threshold."""
        return self.published.facts()

    def tables(self) -> Mapping[str, Table]:
        """Return one row a node, as drawn."""
        return self.published.tables()

    def paths(self) -> PathTree:
        """Return the kept nodes, made to agree; made once."""
        return self._paths

    def lengths(self) -> Bands | None:
        """Return the noisy lengths; releases of the first format have none."""
        return self.drawn.bands

    def occurrences(self, runs: Sequence[Run]) -> list[Estimate]:
        """Return how often each run occurs in the first h symbols of all sequences.

        In the tree by its counts, beyond it by the chain.

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

    def beginnings(self, runs: Sequence[Run], group: int = 0) -> list[Estimate]:
        """Return how many units of a group start with each run.

        Where a run leaves the tree, the chain tells how many go on.
        """
        found = [Estimate(0.0, 0.0)] * len(runs)
        for places in by_length(runs).values():
            own = np.array([runs[place] for place in places], dtype=np.int64)
            told = self._begun(own.reshape(len(places), -1), group)
            for place, value, width in zip(places, *told, strict=True):
                found[place] = Estimate(float(value), float(width))
        return found

    def _begun(self, runs: IntArray, group: int) -> tuple[FloatArray, FloatArray]:
        full, chain = self._full, self._completed.chain
        nodes = np.full(len(runs), group)
        states, shares = full.states[nodes], np.ones(len(runs))
        inside = np.ones(len(runs), dtype=np.bool_)
        for symbols in runs.T:
            child = full.child(nodes, symbols, chain.base)
            inside &= child >= 0
            nodes = np.where(inside, child, nodes)
            shares = np.where(
                inside, 1.0, shares * chain.probabilities[states, symbols]
            )
            states = chain.after(states, symbols)
        values = full.counts[nodes] * shares
        counted = inside & full.kept[nodes]
        widths = WEIGHTED_QUANTILE * np.sqrt(full.variances[nodes]) * shares
        expected = MODEL_ERROR * values + FLOOR * self._scale
        return values, np.where(counted, widths, widths + expected)

    def _told(self, runs: IntArray) -> list[Estimate]:
        sums = self._grams.sums(runs)
        inside, _, variances, hidden = sums[-1]
        most = self._most_uncounted(runs)
        outside = np.minimum(self._shrunk.outside(runs, sums[:, 1]), most)
        expected = hidden + self._beyond.outside(runs, sums[:, 1])
        widths = WEIGHTED_QUANTILE * np.sqrt(variances)
        begun = sums[0, 0]  # what of their first symbols the tree counted went on so
        followed = np.clip(inside / np.maximum(begun, self._scale), 0, 1)
        most_likely = self._at_most(runs, expected, followed)
        expected = np.maximum(MODEL_ERROR * expected, most_likely)
        widths += np.minimum(expected, most + hidden) + FLOOR * self._scale
        return [
            Estimate(float(value), float(width))
            for value, width in zip(inside + outside, widths, strict=True)
        ]

    def _most_uncounted(self, runs: IntArray) -> FloatArray:
        """Return how often runs may occur where nobody counted: a bound.

        No run occurs there more often than its rarest symbol does.
        """
        rarest = self._uncounted.of_symbols[runs].min(axis=1)
        return np.asarray(np.minimum(rarest, self._uncounted.of_runs(runs.shape[1])))

    def _at_most(
        self, runs: IntArray, expected: FloatArray, followed: FloatArray
    ) -> FloatArray:
        """Return how often runs may occur where nobody counted.

        The chain predicts which part of their rarest symbol they are, as a product of
        probabilities; of sequences that stay as they are it is more. So a root of that
        part is taken: the higher, and of the more symbols, the less was learnt of what
        follows. It may not know how its first symbol is come to: where that stands
        uncounted, as large a part goes on so as where it was counted.

        Args:
            runs: (runs, symbols).
            expected: How often the chain says that they occur there.
            followed: The part of their first symbols in the tree that go on so.
        """
        rarest = self._uncounted.of_symbols[runs].min(axis=1)
        if runs.shape[1] == 1:
            return np.asarray(rarest)
        trust = self._trust[runs[:, :-1]].min(axis=1)
        least = (1 - trust) * float(self.domain.symbols) ** (1 - runs.shape[1])
        firsts = followed * self._uncounted.of_symbols[runs[:, 0]]
        parts = expected / np.maximum(rarest, _NOTHING)
        power = LEAST_POWER + (MOST_POWER - LEAST_POWER) * trust
        likely = (SPARE - trust) * rarest * np.clip(parts, least, 1) ** power
        return np.asarray(np.maximum(likely, firsts))

    @cached_property
    def _trust(self) -> FloatArray:
        """Shrinkage factor of predictions after each symbol, from 0 to 1."""
        chain = self._beyond.chain
        own = chain.trust(counted(self._completed), self._strength)
        return np.tile(own, chain.base // len(own))

    @property
    def _strength(self) -> float:
        return TRUSTED * self.drawn.levels[0].scale

    @property
    def _scale(self) -> float:
        return max(level.scale for level in self.drawn.levels)

    @cached_property
    def _completed(self) -> Completed:
        return complete(self.drawn)

    @cached_property
    def _beyond(self) -> Beyond:
        """Predictions beyond the tree, up to the maximal length, without shrinkage."""
        places = None
        full, most = self._full, self.domain.max_length
        if self.drawn.bands is not None:
            known = full.symbols < self.domain.symbols
            known &= full.symbols >= 0
            told = np.bincount(full.depths[known], full.counts[known], most + 1)
            places = np.maximum(self._uncounted.survivors - told, 0)
        return Beyond.of(self._completed.chain, full, most, places=places)

    @cached_property
    def _shrunk(self) -> Beyond:
        """The same predictions after shrinkage: estimates; widths are of the others."""
        known = counted(self._completed)
        chain = self._completed.chain.trusted(known, self._strength)
        most, factors = self.domain.max_length, self._beyond.factors
        return Beyond.of(chain, self._full, most, factors)

    @cached_property
    def _uncounted(self) -> UncountedBounds:
        full, drawn, most = self._full, self.drawn, self.domain.max_length
        symbols = self.domain.symbols
        kept = np.flatnonzero(full.kept & (full.symbols >= 0))
        places = full.depths[kept] * (symbols + 1) + full.symbols[kept]
        size = (most + 2) * (symbols + 1)
        told = np.bincount(places, full.counts[kept], size).astype(np.float64)
        told = told.reshape(most + 2, -1)
        sampled, roots = drawn.sampled, slice(0, self.domain.groups)
        return UncountedBounds(
            domain=self.domain,
            kept=told[:-1, :symbols],
            ended=told[1:, symbols],
            everybody=float(full.counts[roots].sum()),
            most_units=float(
                full.counts[roots].sum()
                + WEIGHTED_QUANTILE * np.sqrt(full.variances[roots].sum())
            ),
            bands=drawn.bands,
            totals=None if sampled is None else totals_of(sampled, most),
        )

    @cached_property
    def _full(self) -> FullTree:
        return full_tree(self.domain, self._completed)

    @cached_property
    def _paths(self) -> PathTree:
        return published(self.domain, self._full)

    @cached_property
    def _grams(self) -> GramSums:
        full = self._full
        hidden = np.where(full.kept, 0.0, full.counts)
        spread = np.where(full.kept, full.variances, 0.0)
        goes_on = full.depths < self.domain.max_length
        values = np.array([full.counts, full.open_ends * goes_on, spread, hidden])
        return GramSums(
            full.parents, full.symbols, full.depths, self.domain.symbols + 1, values
        )
