"""One branch of a published tree: a path, and where its sequences go on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from privacy.schema import Scalar
from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import IntArray
from release.sequences.contract import Estimate, Run
from release.sequences.questions.counting import everybody
from release.sequences.questions.levels import LevelledTree

Step = Literal["symbol", "end", "rest"]


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
    unseen = nodes[:0]
    for symbol in prefix:
        nodes, lost = _onward(tree, nodes, _below(tree, nodes), symbol)
        unseen = np.concatenate([unseen, lost])
    if not len(nodes):
        return Branch(None, ())
    below = _below(tree, nodes)
    children = []
    for code in np.unique(tree.symbols[below]).tolist():
        own, lost = _onward(tree, nodes, below, code)
        elsewhere = np.concatenate([unseen, lost])
        children.append(_child(tree, code, (own, below), elsewhere))
    return Branch(_estimate(tree, nodes, unseen), tuple(children))


def _onward(
    tree: LevelledTree, nodes: IntArray, below: IntArray, code: int
) -> tuple[IntArray, IntArray]:
    """Take a step; return where it leads, and where others may take it unseen.

    In groups of the split that have no such step they are among the rest, or in a node
    with nothing below.

    Args:
        tree: The release's.
        nodes: Of one path, one a group.
        below: All their children.
        code: Of the step.
    """
    own = below[tree.symbols[below] == code]
    others = np.setdiff1d(nodes, tree.parents[own])
    rests = below[tree.symbols[below] == tree.domain.rest]
    rests = rests[np.isin(tree.parents[rests], others)]
    cut = others[tree.is_leaf[others] & ~tree.is_final[others]]
    return own, np.concatenate([rests, cut])


def _child(
    tree: LevelledTree, code: int, step: tuple[IntArray, IntArray], unseen: IntArray
) -> Child:
    nodes, siblings = step
    domain = tree.domain
    ways = np.unique(tree.symbols[_below(tree, nodes)])
    kinds: dict[int, Step] = {domain.end: "end", domain.rest: "rest"}
    kind = kinds.get(code, "symbol")
    symbol = domain.alphabet.values[code] if kind == "symbol" else None
    if kind == "rest":
        others = siblings[tree.symbols[siblings] != code]
        estimate = _left(tree, nodes, others, unseen)
    else:
        estimate = _estimate(tree, nodes, unseen)
    return Child(kind, symbol, estimate, len(ways))


def _below(tree: LevelledTree, nodes: IntArray) -> IntArray:
    first = tree.roots.stop
    return first + np.flatnonzero(np.isin(tree.parents[first:], nodes))


def _estimate(tree: LevelledTree, nodes: IntArray, unseen: IntArray) -> Estimate:
    """Return the sum of nodes, as far off as the farther of its two ends.

    It may be less by what noise alone may have made, and more by what is unseen.
    """
    value = float(tree.counts[nodes].sum())
    own = max(_deviation(tree, nodes), _doubted(tree, nodes))
    together = _deviation(tree, np.concatenate([nodes, unseen]))
    return _with_unseen(tree, Estimate(value, own), unseen, together)


def _left(
    tree: LevelledTree, nodes: IntArray, others: IntArray, unseen: IntArray
) -> Estimate:
    """Return what is left of a path beside the children that noise chose.

    It is as far off as the path and those children are together: what noise gave them
    was taken from it.
    """
    alone = _estimate(tree, nodes, unseen[:0])
    parents = np.unique(tree.parents[nodes])
    off = _doubted(tree, np.concatenate([parents, others]))
    own = Estimate(alone.value, max(alone.half_width, off))
    together = own.half_width + _deviation(tree, unseen)
    return _with_unseen(tree, own, unseen, together)


def _with_unseen(
    tree: LevelledTree, estimate: Estimate, unseen: IntArray, deviation: float
) -> Estimate:
    """Widen an estimate by what is unseen; none reaches beyond all units for that.

    Args:
        tree: The release's.
        estimate: Without it.
        unseen: Nodes in which more may be.
        deviation: How far off both may be together.
    """
    most = float(tree.counts[unseen].sum()) + deviation
    room = everybody(tree) - estimate.value
    width = max(estimate.half_width, min(most, room))
    return Estimate(estimate.value, width)


def _doubted(tree: LevelledTree, nodes: IntArray) -> float:
    """Return what noise alone may have made, and the half-width of all other nodes."""
    doubts = tree.doubts[nodes]
    return float(doubts.sum()) + _deviation(tree, nodes[doubts == 0])


def _deviation(tree: LevelledTree, nodes: IntArray) -> float:
    """Return the 95 % half-width of a sum of nodes."""
    return WEIGHTED_QUANTILE * float(np.sqrt(tree.variances[nodes].sum()))


def code_among(value: object, values: Sequence[Scalar | None]) -> int | None:
    """Return the place of a JSON value among public values, by how they are written."""
    for place, known in enumerate(values):
        if known is None or value is None or isinstance(known, bool):
            if known is value:
                return place
        elif not isinstance(value, bool) and str(known) == str(value):
            return place
    return None
