"""One branch of a published tree: a path, and where its sequences go on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from privacy.schema import Scalar
from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray
from release.sequences.contract import Estimate, Run
from release.sequences.questions.counts import (
    Counts,
    Sums,
    leaning,
    told,
)
from release.sequences.questions.levels import LevelledTree

Step = Literal["symbol", "end", "rest"]

TOGETHER: Final = 0.06
"""How far errors of one path in several values of a split lean the same way at the
least: one threshold hid what is beside it in all of them, and one chain expects it.
Measured (docs/sequences-accuracy.md)."""


@dataclass(frozen=True, slots=True)
class Child:
    """How many sequences go on in one way.

    Attributes:
        kind: By a symbol; or the sequence has ended; or it is not known.
        symbol: Which, where it is one.
        count: Estimated units.
        children: In how many ways they go on, as far as the release knows.
    """

    kind: Step
    symbol: Scalar | None
    count: Estimate
    children: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A path of a tree.

    Attributes:
        count: Units whose sequences begin so; None where the release did not keep it.
        children: In declared order, the end and what is not known last.
    """

    count: Estimate | None
    children: tuple[Child, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """Where sequences that begin alike stand.

    Attributes:
        nodes: Of one path, one in each group of the split that has it.
        unseen: Where those of other groups may take it: among the rest of the last node
            that they share with it, or in a node with nothing below.
    """

    nodes: IntArray
    unseen: IntArray


def branch(tree: LevelledTree, prefix: Run, group: int | None) -> Branch:
    """Return a path and its children.

    Args:
        tree: The release's.
        prefix: Codes of the first symbols; none for all sequences.
        group: The place of the split's value; None for all of them together.
    """
    nodes = np.arange(tree.roots.start, tree.roots.stop)
    if group is not None:
        nodes = nodes[tree.groups[nodes] == group]
    way = _Way(nodes, nodes[:0])
    for symbol in prefix:
        way = _onward(tree, way, _below(tree, way.nodes), symbol)
    if not len(way.nodes):
        return Branch(None, ())
    below = _below(tree, way.nodes)
    codes = np.unique(tree.symbols[below]).tolist()
    ways = [way, *(_onward(tree, way, below, code) for code in codes)]
    itself, *steps = _estimates(tree, ways)
    children = [
        _child(tree, code, (onward.nodes, estimate))
        for code, onward, estimate in zip(codes, ways[1:], steps, strict=True)
    ]
    return Branch(itself, tuple(children))


def half_widths(tree: LevelledTree) -> FloatArray:
    """Return how far off each node is, as a branch says with a value of the split."""
    errors, counts, nothing = tree.errors, tree.counts, np.zeros(len(tree))
    doubted = errors.doubts + WEIGHTED_QUANTILE * np.sqrt(errors.sure)
    return _farther(
        told(
            tree,
            Sums(
                values=counts,
                variances=errors.variances,
                doubted=doubted,
                undecided=nothing,
                spread=nothing,
                shared=nothing,
                reached=nothing,
                held_back=errors.held_back,
                mosts=tree.mosts,
            ),
        )
    )


def _onward(tree: LevelledTree, way: _Way, below: IntArray, code: int) -> _Way:
    """Take a step.

    Args:
        tree: The release's.
        way: So far.
        below: All children of its nodes.
        code: Of the step.
    """
    own = below[tree.symbols[below] == code]
    others = np.setdiff1d(way.nodes, tree.parents[own])
    rests = below[tree.symbols[below] == tree.domain.rest]
    rests = rests[np.isin(tree.parents[rests], others)]
    cut = others[tree.is_leaf[others] & ~tree.is_final[others]]
    return _Way(own, np.concatenate([way.unseen, rests, cut]))


def _child(tree: LevelledTree, code: int, step: tuple[IntArray, Estimate]) -> Child:
    nodes, estimate = step
    domain = tree.domain
    ways = np.unique(tree.symbols[_below(tree, nodes)])
    kinds: dict[int, Step] = {domain.end: "end", domain.rest: "rest"}
    kind = kinds.get(code, "symbol")
    symbol = domain.alphabet.values[code] if kind == "symbol" else None
    return Child(kind, symbol, estimate, len(ways))


def _below(tree: LevelledTree, nodes: IntArray) -> IntArray:
    first = tree.roots.stop
    return first + np.flatnonzero(np.isin(tree.parents[first:], nodes))


def _estimates(tree: LevelledTree, ways: Sequence[_Way]) -> list[Estimate]:
    """Return how many units each way has, as far off as the farther of its two ends.

    They may be less by what noise alone may have made, and more by what is unseen and
    by what noise that was kept beside the way took from it.
    """
    errors = tree.errors
    own = [way.nodes for way in ways]
    seen_or_not = [np.concatenate([way.nodes, way.unseen]) for way in ways]
    values = _summed(tree.counts, own)
    variances = _leaning(tree, errors.variances, own)
    sure = _leaning(tree, errors.sure, own)
    undecided = _summed(tree.counts, [way.unseen for way in ways])
    nothing = np.zeros(len(ways))  # first symbols tell ways apart
    sums = Sums(
        values=values,
        variances=variances,
        doubted=_summed(errors.doubts, own) + WEIGHTED_QUANTILE * np.sqrt(sure),
        undecided=undecided,
        spread=_leaning(tree, errors.variances, seen_or_not) - variances,
        shared=nothing,
        reached=nothing,
        held_back=_summed(errors.held_back, seen_or_not),
        mosts=_summed(tree.mosts, own),
    )
    pairs = zip(values.tolist(), _farther(told(tree, sums)).tolist(), strict=True)
    return [Estimate(value, width) for value, width in pairs]


def _summed(numbers: FloatArray, places: Sequence[IntArray]) -> FloatArray:
    return np.array([numbers[own].sum() for own in places], dtype=np.float64)


def _leaning(
    tree: LevelledTree, variances: FloatArray, places: Sequence[IntArray]
) -> FloatArray:
    """Return the squared errors of sums of nodes."""
    together = _summed(np.sqrt(variances), places)
    lean = max(tree.lean, TOGETHER)
    return leaning(lean, _summed(variances, places), together)


def _farther(counts: Counts) -> FloatArray:
    """Return how far the farther end of each interval is."""
    below = counts.half_widths + counts.doubts
    above = counts.undecided + counts.reach + counts.spare
    return np.maximum(below, above)


def code_among(value: object, values: Sequence[Scalar | None]) -> int | None:
    """Return the place of a JSON value among public values, by how they are written."""
    for place, known in enumerate(values):
        if known is None or value is None or isinstance(known, bool):
            if known is value:
                return place
        elif not isinstance(value, bool) and str(known) == str(value):
            return place
    return None
