"""One branch of a published tree: a path, and where its sequences go on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from privacy.schema import Scalar
from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import IntArray
from release.sequences.contract import Estimate, Run
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
    for symbol in prefix:
        nodes = _below(tree, nodes)
        nodes = nodes[tree.symbols[nodes] == symbol]
    if not len(nodes):
        return Branch(None, ())
    below = _below(tree, nodes)
    found = np.unique(tree.symbols[below])
    children = [
        _child(tree, int(c), below[tree.symbols[below] == c], below) for c in found
    ]
    return Branch(_estimate(tree, nodes), tuple(children))


def _child(tree: LevelledTree, code: int, nodes: IntArray, siblings: IntArray) -> Child:
    domain = tree.domain
    ways = np.unique(tree.symbols[_below(tree, nodes)])
    kinds: dict[int, Step] = {domain.end: "end", domain.rest: "rest"}
    kind = kinds.get(code, "symbol")
    symbol = domain.alphabet.values[code] if kind == "symbol" else None
    estimate = _estimate(tree, nodes)
    if kind == "rest":
        others = siblings[tree.symbols[siblings] != code]
        estimate = _left(tree, estimate, nodes, others)
    else:
        width = estimate.half_width + _elsewhere(tree, siblings, code)
        estimate = Estimate(estimate.value, width)
    return Child(kind, symbol, estimate, len(ways))


def _below(tree: LevelledTree, nodes: IntArray) -> IntArray:
    first = tree.roots.stop
    return first + np.flatnonzero(np.isin(tree.parents[first:], nodes))


def _estimate(tree: LevelledTree, nodes: IntArray) -> Estimate:
    """Return the sum of nodes; what noise alone may have made is in the half-width."""
    width = max(_deviation(tree, nodes), _doubted(tree, nodes))
    return Estimate(float(tree.counts[nodes].sum()), width)


def _left(
    tree: LevelledTree, estimate: Estimate, nodes: IntArray, others: IntArray
) -> Estimate:
    """Return what is left of a path beside the children that noise chose.

    It is as far off as the path and those children are together: what noise gave them
    was taken from it.
    """
    parents = np.unique(tree.parents[nodes])
    off = _doubted(tree, np.concatenate([parents, others]))
    return Estimate(estimate.value, max(estimate.half_width, off))


def _elsewhere(tree: LevelledTree, siblings: IntArray, code: int) -> float:
    """Return how many may go on so in groups of the split that have no such step.

    There they are among the rest.
    """
    parents, symbols = tree.parents[siblings], tree.symbols[siblings]
    known = np.isin(parents, parents[symbols == code])
    rests = siblings[(symbols == tree.domain.rest) & ~known]
    return float(tree.counts[rests].sum()) + _doubted(tree, rests)


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
