"""A tree of paths laid out for questions: what all of them need, worked out once."""

from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from release.contract.models import FloatArray, IntArray
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.node_errors import NodeErrors, node_errors
from release.sequences.estimation.paths import PathTree

BoolArray = NDArray[np.bool_]


class LevelledTree:
    """A published tree, level by level; immutable, and safe for many threads.

    Attributes:
        domain: What the release ranges over.
        parents: The place of each node's parent; roots have their own.
        symbols: Each node's code; ``domain.rest`` for a root, which adds nothing.
        groups: The place of the split's value.
        counts: Estimated units.
        variances: Mean squared error of each count.
        lean: How far their errors lean the same way, from 0 to 1.
        doubts: How much of each count noise alone may have made.
        mosts: How many units may be at each node, whatever was predicted.
        candidates: Of how many children noise may have chosen those that are shown.
        levels: The first node of each level below the roots, and one past the last.
        lengths: How many symbols are known at each node.
        has_ended: Whether the sequence has ended there.
        is_final: Whether all its symbols are known: it ended, or has h of them.
        is_leaf: Whether nothing is below.
        known_lengths: Lengths where they are final, else -1.
        left: How many symbols more each path can have.
        total_width: How far, 95 times in 100, the number of all units is off at the
            most, by noisy numbers beside the tree; None: there are none.
    """

    def __init__(
        self,
        domain: SequenceDomain,
        tree: PathTree,
        *,
        total_width: float | None = None,
    ) -> None:
        self.domain = domain
        self.total_width = total_width
        depths = _depths(tree.parents)
        order = np.argsort(depths, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        parents = tree.parents[order]
        is_root = parents < 0
        self.parents: IntArray = np.where(
            is_root, np.arange(len(order)), places[parents]
        )
        self.symbols: IntArray = np.where(is_root, domain.rest, tree.symbols[order])
        self.groups: IntArray = tree.groups[order]
        self.counts: FloatArray = tree.counts[order].astype(np.float64)
        self.variances: FloatArray = tree.variances[order].astype(np.float64)
        self.lean = tree.lean
        doubts = np.zeros(len(order)) if tree.doubts is None else tree.doubts
        self.doubts: FloatArray = doubts[order]
        mosts = tree.counts if tree.mosts is None else tree.mosts
        self.mosts: FloatArray = np.maximum(mosts[order], self.counts)
        ends = np.searchsorted(depths[order], np.arange(1, depths.max(initial=0) + 2))
        self.levels: list[slice] = [
            slice(int(start), int(stop)) for start, stop in pairwise(ends)
        ]
        self.roots = slice(0, int(ends[0]))
        self._lock = Lock()
        self._at: dict[int, IntArray] = {}
        self._lay_out()

    def _lay_out(self) -> None:
        domain = self.domain
        is_symbol = self.symbols < domain.symbols
        self.lengths: IntArray = self.summed(is_symbol.astype(np.int64))
        self.has_ended: BoolArray = self.symbols == domain.end
        self.is_final: BoolArray = self.has_ended | (self.lengths >= domain.max_length)
        self.known_lengths: IntArray = np.where(self.is_final, self.lengths, -1)
        self.left: IntArray = np.where(
            self.is_final, 0, domain.max_length - self.lengths
        )
        self.is_leaf: BoolArray = np.ones(len(self.parents), dtype=np.bool_)
        self.is_leaf[self.parents[self.roots.stop :]] = False
        self.candidates = int((~self.is_leaf).sum()) * (domain.symbols + 1)

    def __len__(self) -> int:
        """Return how many nodes there are."""
        return len(self.parents)

    def summed(self, values: IntArray) -> IntArray:
        """Return the sums of each node's value and those above it."""
        found = values.copy()
        for level in self.levels:
            found[level] += found[self.parents[level]]
        return found

    def run(self, table: IntArray) -> IntArray:
        """Return each node's state of an automaton that reads its path.

        Args:
            table: The state after each state (rows) and symbol (columns). What is no
                symbol leaves a state as it is.
        """
        keep = np.arange(len(table))[:, None]
        wide = np.hstack((table, keep, keep))
        width, flat = wide.shape[1], wide.ravel()
        states = np.zeros(len(self.parents), dtype=np.int64)
        for level in self.levels:
            states[level] = flat[
                states[self.parents[level]] * width + self.symbols[level]
            ]
        return states

    def at(self, place: int) -> IntArray:
        """Return the symbol at a place, from 1, of each node's path.

        ``domain.end`` where the sequence ended before; -1 where it is not known.
        """
        with self._lock:
            if place not in self._at:
                self._at[place] = self._symbols_at(place)
            return self._at[place]

    def _symbols_at(self, place: int) -> IntArray:
        found = np.full(len(self.parents), -1, dtype=np.int64)
        is_symbol = self.symbols < self.domain.symbols
        here = is_symbol & (self.lengths == place)
        found[here] = self.symbols[here]
        found[self.has_ended & (self.lengths < place)] = self.domain.end
        for level in self.levels[place:]:  # above, no path is as long
            above = found[self.parents[level]]
            found[level] = np.where(above >= 0, above, found[level])
        return found

    @cached_property
    def errors(self) -> NodeErrors:
        """How far off each node is by itself."""
        is_rest = self.symbols == self.domain.rest
        is_rest[self.roots] = False
        return node_errors(
            self.parents, is_rest, self.variances, self.doubts, self.levels
        )

    @cached_property
    def slopes(self) -> "Slopes":
        """The least-squares slopes of all paths; see ``Slopes``."""
        values = symbol_steps(self.domain)
        is_symbol = self.symbols < self.domain.symbols
        codes = np.where(is_symbol, self.symbols, 0)
        known = np.array([value is not None for value in values])
        steps = np.array([value or 0 for value in values], dtype=np.int64)
        own = np.where(is_symbol, steps[codes], 0)
        unknown = self.summed((is_symbol & ~known[codes]).astype(np.int64)) > 0
        weighted, plain = self.summed(own * self.lengths), self.summed(own)
        n = self.lengths
        rise = 6 * (2 * weighted - (n + 1) * plain)
        run = n * (n * n - 1)
        return Slopes(rise, np.maximum(run, 1), (run > 0) & ~unknown)


class Slopes:
    """Slopes as exact fractions, in steps of the symbols' grid a place.

    Of n values v_1..v_n at the places 1..n: 6 sum((2 i - n - 1) v_i) / (n (n^2 - 1)).

    Attributes:
        rise: Numerators.
        run: Denominators, positive.
        exists: Whether there is a slope: two symbols at least, each with a value.
    """

    def __init__(self, rise: IntArray, run: IntArray, exists: BoolArray) -> None:
        self.rise = rise
        self.run = run
        self.exists = exists


def symbol_steps(domain: SequenceDomain) -> list[int | None]:
    """Return each symbol's value for slopes: its number, else its declared place.

    Decimals are in steps of their grid; NULL has no value.
    """
    alphabet = domain.alphabet
    if is_numbered(domain):
        factor = 10**alphabet.scale
        return [
            None if value is None else int(_number(value) * factor)
            for value in alphabet.values
        ]
    return [None if value is None else n for n, value in enumerate(alphabet.values)]


def is_numbered(domain: SequenceDomain) -> bool:
    """Whether the symbols are numbers themselves."""
    values = [value for value in domain.alphabet.values if value is not None]
    return all(
        isinstance(value, int | Decimal) and not isinstance(value, bool)
        for value in values
    )


def _number(value: object) -> Decimal:
    if isinstance(value, int | Decimal):
        return Decimal(value)
    raise TypeError


def _depths(parents: IntArray) -> IntArray:
    """Return how many nodes are above each; parents come before their children."""
    depths = np.zeros(len(parents), dtype=np.int64)
    pending = np.flatnonzero(parents >= 0)
    above = parents[pending]
    while len(pending):
        depths[pending] += 1
        above = parents[above]
        going_on = above >= 0
        pending, above = pending[going_on], above[going_on]
    return depths
