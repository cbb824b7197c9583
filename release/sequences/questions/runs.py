"""The runs that occur most: found in the tree, counted by the model."""

from dataclasses import dataclass
from threading import Lock
from typing import Final

import numpy as np

from release.contract.models import IntArray
from release.sequences.contract import Estimate, Run, SequenceModel
from release.sequences.questions.levels import LevelledTree
from release.sequences.questions.question import TopRuns

_SPARE: Final = 4
_SPARE_RUNS: Final = 64


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run and how often it occurs."""

    run: Run
    occurrences: Estimate


class FrequentRuns:
    """The runs that occur most in a tree, by their length; each length is found once.

    Held are as many of each length as a question may need, and one number a node.
    Safe for many threads.

    Args:
        tree: Of the release.
        most: How many runs a question may ask for.
    """

    def __init__(self, tree: LevelledTree, most: int) -> None:
        self._tree = tree
        self._most = _spare(most)
        self._lock = Lock()
        self._found: list[list[tuple[float, Run]]] = []
        self._owners = np.flatnonzero(tree.symbols < tree.domain.symbols)
        self._ids = np.zeros(len(tree), dtype=np.int64)

    def of(self, size: int) -> list[tuple[float, Run]]:
        """Return runs of so many symbols and their counts, the most frequent first."""
        with self._lock:
            while len(self._found) < size:
                self._found.append(self._longer())
            return self._found[size - 1]

    def _longer(self) -> list[tuple[float, Run]]:
        """Return the runs of the next length; they are numbered anew."""
        tree, size = self._tree, len(self._found) + 1
        owners = self._owners[tree.lengths[self._owners] >= size]
        if not len(owners):
            return []
        before = self._ids[tree.parents[owners]] if size > 1 else 0
        joined = before * tree.domain.symbols + tree.symbols[owners]
        _, first, numbers = np.unique(joined, return_index=True, return_inverse=True)
        self._owners = owners
        self._ids[owners] = numbers
        counts = np.bincount(numbers, tree.counts[owners])
        best = np.argsort(-counts, kind="stable")[: self._most]
        runs = _before(tree, owners[first[best]], size)
        return list(zip(counts[best].tolist(), runs, strict=True))


def top_runs(
    model: SequenceModel, frequent: FrequentRuns, top: TopRuns
) -> list[FoundRun]:
    """Return the runs that occur most, the most frequent first.

    The tree's counts propose four times as many as are asked for; the model, which may
    know of symbols beyond the tree, then counts these.
    """
    wanted = _spare(top.most)
    proposed: list[tuple[float, Run]] = []
    for size in range(top.shortest, min(top.longest, model.domain.max_length) + 1):
        proposed += frequent.of(size)[:wanted]
    proposed.sort(key=lambda pair: (-pair[0], pair[1]))
    runs_ = [run for _, run in proposed[:wanted]]
    found = [
        FoundRun(run, estimate)
        for run, estimate in zip(runs_, model.occurrences(runs_), strict=True)
    ]
    found.sort(key=lambda each: (-each.occurrences.value, each.run))
    return found[: top.most]


def _spare(most: int) -> int:
    """Return how many runs are proposed where so many are asked for."""
    return most * _SPARE + _SPARE_RUNS


def _before(tree: LevelledTree, nodes: IntArray, size: int) -> list[Run]:
    """Return the last symbols of nodes' paths."""
    columns: list[list[int]] = []
    for _ in range(size):
        columns.append(tree.symbols[nodes].tolist())
        nodes = tree.parents[nodes]
    return list(zip(*reversed(columns), strict=True))
