"""The runs that occur most: found in the tree, counted by the model."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from release.models.contract import IntArray
from release.sequences.asking.levels import LevelledTree
from release.sequences.asking.question import TopRuns
from release.sequences.contract import Estimate, Run, SequenceModel

_SPARE: Final = 4
_SPARE_RUNS: Final = 64


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run and how often it occurs."""

    run: Run
    occurrences: Estimate


def top_runs(model: SequenceModel, tree: LevelledTree, top: TopRuns) -> list[FoundRun]:
    """Return the runs that occur most, the most frequent first.

    The tree's counts propose four times as many as are asked for; the model, which may
    know of symbols beyond the tree, then counts these.
    """
    wanted = top.most * _SPARE + _SPARE_RUNS
    proposed: list[tuple[float, Run]] = []
    for size, (owners, runs) in enumerate(_runs_by_length(tree, top.longest), 1):
        if size < top.shortest or not len(owners):
            continue
        counts = np.bincount(runs, tree.counts[owners])
        first = np.zeros(len(counts), dtype=np.int64)
        first[runs[::-1]] = owners[::-1]
        best = np.argsort(-counts, kind="stable")[:wanted]
        proposed += [
            (float(counts[place]), _run_before(tree, int(first[place]), size))
            for place in best
        ]
    proposed.sort(key=lambda pair: (-pair[0], pair[1]))
    runs_ = [run for _, run in proposed[:wanted]]
    found = [
        FoundRun(run, estimate)
        for run, estimate in zip(runs_, model.occurrences(runs_), strict=True)
    ]
    found.sort(key=lambda each: (-each.occurrences.value, each.run))
    return found[: top.most]


def _runs_by_length(
    tree: LevelledTree, longest: int
) -> list[tuple[IntArray, IntArray]]:
    """Return, for each length, nodes with as many symbols and the run that ends there.

    Runs are numbered anew for each length, so that the numbers stay small.
    """
    domain = tree.domain
    owners = np.flatnonzero(tree.symbols < domain.symbols)
    ids = np.zeros(len(tree), dtype=np.int64)
    _, ids[owners] = np.unique(tree.symbols[owners], return_inverse=True)
    found = [(owners, ids[owners])]
    for size in range(2, longest + 1):
        owners = owners[tree.lengths[owners] >= size]
        if not len(owners):
            break
        joined = ids[tree.parents[owners]] * domain.symbols + tree.symbols[owners]
        _, numbers = np.unique(joined, return_inverse=True)
        ids = np.zeros(len(tree), dtype=np.int64)
        ids[owners] = numbers
        found.append((owners, ids[owners]))
    return found


def _run_before(tree: LevelledTree, node: int, size: int) -> Run:
    """Return the last symbols of a node's path."""
    run: list[int] = []
    for _ in range(size):
        run.append(int(tree.symbols[node]))
        node = int(tree.parents[node])
    return tuple(reversed(run))
