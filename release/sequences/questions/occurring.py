"""Places where a run starts, in the sequences that match, from a tree's nodes."""

from collections.abc import Callable

import numpy as np

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray
from release.sequences.contract import Run
from release.sequences.questions.counting import Groups, doubted, possible, sure
from release.sequences.questions.counts import Counts, everybody, further
from release.sequences.questions.levels import LevelledTree
from release.sequences.questions.verdicts import run_table

_Summed = Callable[
    [LevelledTree, Groups, IntArray, slice], tuple[FloatArray, FloatArray]
]


def occur(tree: LevelledTree, groups: Groups, run: Run) -> Counts:
    """Count at how many places a run starts in the sequences of each group.

    Where a sequence is first known to match, its node's count is taken as often as the
    run has occurred on the way there; from there on once at each node where the run
    ends. Undecided is what may follow beyond a leaf, at most, and of leaves that only
    may match what has occurred before, too.

    Nodes of one depth are disjoint, so their variances are added. Nodes of several
    depths may lie on one path, where errors may lean the same way: their standard
    deviations are added.

    Args:
        tree: Of the release.
        groups: Of the question.
        run: One symbol or more.
    """
    table = run_table(run, tree.domain.symbols)
    states = tree.run(table)
    ends_here = (states == len(run)) & (tree.symbols < tree.domain.symbols)
    before = tree.summed(ends_here.astype(np.int64))
    once = (groups.settled & ends_here).astype(np.int64)
    times = np.where(groups.fresh, before, once)
    to_come = _most(table, tree.domain.max_length)[tree.left, states]
    may = tree.is_leaf & (groups.settled | groups.open)
    more = np.where(may, to_come + np.where(groups.open, before, 0), 0)
    values, widths = _by_depth(tree, groups, times, sure)
    doubts = sum(
        (doubted(tree, groups, times, level) for level in (tree.roots, *tree.levels)),
        np.zeros_like(values),
    )
    undecided, spread = _by_depth(tree, groups, more, possible)
    room = np.maximum(_places(tree, run) - values, 0)
    undecided = np.minimum(undecided, room)
    reach = np.minimum(widths + spread, np.maximum(room - undecided, 0))
    doubts, spare = further(values, widths, doubts), np.zeros_like(values)
    return Counts(values, widths, doubts, undecided, reach, spare)


def _places(tree: LevelledTree, run: Run) -> float:
    """Return at how many places a run may start at the most, in all sequences."""
    most = max(tree.domain.max_length - len(run) + 1, 0)
    return most * everybody(tree)


def _by_depth(
    tree: LevelledTree, groups: Groups, times: IntArray, summed: _Summed
) -> tuple[FloatArray, FloatArray]:
    """Return sums and their 95 % half-widths; those of each depth are added."""
    size = int(np.prod(groups.shape, dtype=np.int64))
    values, widths = np.zeros(size), np.zeros(size)
    for level in (tree.roots, *tree.levels):
        found, variances = summed(tree, groups, times, level)
        values += found
        widths += WEIGHTED_QUANTILE * np.sqrt(variances)
    return values, widths


def _most(table: IntArray, longest: int) -> IntArray:
    """Return how often a run can still end: (symbols that are left, state)."""
    ends = table == len(table) - 1
    most = np.zeros((longest + 1, len(table)), dtype=np.int64)
    for left in range(1, longest + 1):
        most[left] = (ends + most[left - 1][table]).max(axis=1)
    return most
