"""Sums over a tree's nodes by the run of symbols that leads to them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from release.contract.models import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class _Grams:
    """All runs of one length: ascending keys of (shorter run, symbol), and sums."""

    keys: IntArray
    sums: FloatArray
    places: IntArray


@dataclass(frozen=True)
class GramSums:
    """Sums of each node's values, over the nodes whose last symbols are a run.

    Attributes:
        parents: Place of each node's parent; -1 for roots.
        symbols: Of each node; -1 for roots.
        depths: Of each node.
        base: One more than the largest symbol.
        values: (values, nodes): what is summed.
    """

    parents: IntArray
    symbols: IntArray
    depths: IntArray
    base: int
    values: FloatArray
    _made: list[_Grams] = field(default_factory=list)

    def sums(self, runs: IntArray) -> FloatArray:
        """Return the sums of runs and of their beginnings.

        Args:
            runs: (runs, symbols), all of one length.

        Returns:
            (symbols, values, runs): at place l the sums of the first l + 1 symbols; 0
            where no node ends so.
        """
        found = np.zeros((runs.shape[1], len(self.values), len(runs)))
        own = np.zeros(len(runs), dtype=np.int64)
        alive = np.ones(len(runs), dtype=np.bool_)
        for place in range(runs.shape[1]):
            grams = self._grams(place + 1)
            keys = own * self.base + runs[:, place]
            own = np.searchsorted(grams.keys, keys)
            alive &= own < len(grams.keys)
            own[~alive] = 0
            if not alive.any():
                break
            alive &= grams.keys[own] == keys
            found[place][:, alive] = grams.sums[:, own[alive]]
        return found

    def _grams(self, length: int) -> _Grams:
        while len(self._made) < length:
            self._made.append(self._longer())
        return self._made[length - 1]

    def _longer(self) -> _Grams:
        length = len(self._made) + 1
        nodes = np.flatnonzero(self.depths >= length)
        before = np.zeros(len(self.parents), dtype=np.int64)
        if self._made:
            before = self._made[-1].places
        keys = before[self.parents[nodes]] * self.base + self.symbols[nodes]
        unique, own = np.unique(keys, return_inverse=True)
        sums = [np.bincount(own, row[nodes], len(unique)) for row in self.values]
        places = np.full(len(self.parents), -1, dtype=np.int64)
        places[nodes] = own
        return _Grams(unique, np.array(sums), places)


def by_length(runs: Sequence[tuple[int, ...]]) -> dict[int, list[int]]:
    """Return the places of runs of each length."""
    found: dict[int, list[int]] = {}
    for place, run in enumerate(runs):
        found.setdefault(len(run), []).append(place)
    return found
