"""Counts of units from a tree, group by group, with what could not be decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

import numpy as np

from query_lang.syntax.logic import Logic
from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.models import FloatArray, IntArray
from release.sequences.questions.counts import (
    Counts,
    Sums,
    leaning,
    of_everybody,
    told,
)
from release.sequences.questions.levels import BoolArray, LevelledTree
from release.sequences.questions.question import (
    Atom,
    Condition,
    GroupKey,
    Key,
    KeyColumn,
    LengthKey,
    SlopeKey,
    StartsWith,
    SymbolIn,
    SymbolKey,
)
from release.sequences.questions.verdicts import verdict

EVERY: Final = slice(0, None)
"""All nodes."""


@dataclass(frozen=True, slots=True)
class Groups:
    """A tree's nodes, laid over the groups of a question.

    Attributes:
        codes: For each key, each node's place among its values; -1: not known.
        least: For each key, the first place that a node can come to; None: any.
        shape: How many values each key has.
        settled: Where the condition is TRUE and all keys are known, for all below too.
        fresh: Settled, but not above: these nodes are disjoint.
        open: Leaves that are not settled and may match.
        never: Where the condition is not TRUE, for all below too.
        mixed: Whether sequences of any first symbols may be in one group.
    """

    codes: tuple[IntArray, ...]
    least: tuple[IntArray | None, ...]
    shape: tuple[int, ...]
    settled: BoolArray
    fresh: BoolArray
    open: BoolArray
    never: BoolArray
    mixed: bool


def grouped(
    tree: LevelledTree, condition: Condition | None, keys: Sequence[KeyColumn]
) -> Groups:
    """Return which nodes match for sure, and in which group."""
    true = (
        np.ones(len(tree), dtype=np.int8)
        if condition is None
        else verdict(condition, tree).is_true
    )
    codes = tuple(places_of(key, tree) for key in keys)
    settled = true > 0
    for code in codes:
        settled &= code >= 0
    fresh = settled & ~settled[tree.parents]
    fresh[tree.roots] = settled[tree.roots]
    return Groups(
        codes=codes,
        least=tuple(_least_places(key, tree) for key in keys),
        shape=tuple(len(key.values) for key in keys),
        settled=settled,
        fresh=fresh,
        open=tree.is_leaf & (true >= 0) & ~settled,
        never=true < 0,
        mixed=not _tells_first(tree.domain.symbols, condition, keys),
    )


def count(tree: LevelledTree, groups: Groups) -> Counts:
    """Count the units of each group.

    A node's own count is taken where everything is settled there and was not above:
    these nodes are disjoint, and a count carries less noise than the sum of what is
    below it. Their variances are added. Where a model fits siblings to their parent's
    count, errors of disjoint nodes lean against each other, so the sum is too large
    rather than too small (docs/querying-releases.md).
    """
    values, variances = sure(tree, groups, groups.fresh)
    variances = variances + _hidden(tree, groups, groups.fresh)
    undecided, spread = possible(tree, groups, groups.open)
    may = groups.settled | groups.open
    return told(
        tree,
        Sums(
            values=values,
            variances=variances,
            doubted=doubted(tree, groups, groups.fresh),
            undecided=undecided,
            spread=spread + _hidden(tree, groups, groups.open),
            shared=_of_everybody(tree, groups, values, groups.settled),
            reached=_of_everybody(tree, groups, values + undecided, may),
            held_back=_held_back(tree, groups),
            mosts=np.zeros_like(values),
        ),
    )


_Firsts = tuple[frozenset[int], frozenset[int]]
"""First symbols of which a condition may be TRUE, and of which it may not be."""


def _tells_first(
    symbols: int, condition: Condition | None, keys: Sequence[KeyColumn]
) -> bool:
    """Whether in each group all sequences have one first symbol."""
    if any(isinstance(k.key, SymbolKey) and k.key.place == 1 for k in keys):
        return True
    if condition is None:
        return False
    every = frozenset(range(symbols))

    def judge(one: Atom) -> _Firsts:
        match one:
            case StartsWith(run):
                return every & frozenset(run[:1]), every
            case SymbolIn(1, codes):
                return every & codes, every - codes
            case _:
                return every, every

    firsts: Logic[Atom, _Firsts] = Logic(
        judge,
        lambda one: (one[1], one[0]),
        lambda one, other: (one[0] & other[0], one[1] | other[1]),
    )
    return len(firsts.evaluate(condition)[0]) <= 1


def _hidden(tree: LevelledTree, groups: Groups, among: BoolArray) -> FloatArray:
    """Return the squared error of first symbols that were not kept, by group.

    They were missed by one threshold, which is in the number of all units. Unless
    first symbols are told apart, all that they hide may be in one group.
    """
    below_roots = tree.parents < tree.roots.stop
    is_rest = among & below_roots & (tree.lengths == 0)
    nodes = np.flatnonzero(is_rest & groups.mixed)
    of_roots = tree.variances[tree.parents[nodes]]
    more = np.maximum(of_roots - tree.variances[nodes], 0)
    return _spread_out(groups, [(nodes, more)])


def _held_back(tree: LevelledTree, groups: Groups) -> FloatArray:
    """Return how much more each group may have, since noise was kept beside it.

    A node that noise alone may have made has taken units from what its parent has
    besides, such as sequences that end there and were not kept. So it is taken for
    nothing where its way leaves a group. First symbols take from nobody: how many
    units there are is their sum.
    """
    parents = tree.parents
    in_doubt = (
        (tree.doubts > 0) & (parents != parents[parents]) & ~groups.never[parents]
    )
    nodes = np.flatnonzero(in_doubt)
    doubts = tree.doubts[nodes]
    stays = ~groups.never[nodes]
    parts = [(parents[nodes], doubts), (nodes[stays], -doubts[stays])]
    return np.maximum(_spread_out(groups, parts), 0)


def _spread_out(
    groups: Groups, parts: Sequence[tuple[IntArray, FloatArray]]
) -> FloatArray:
    """Return the sums of numbers over all groups that their nodes can come to."""
    sums = np.zeros([size + 1 for size in groups.shape])
    for nodes, numbers in parts:
        _lay(sums, groups, nodes, numbers)
    for axis in range(len(groups.shape)):
        sums = sums.cumsum(axis=axis)
    inner = tuple(slice(0, size) for size in groups.shape)
    return np.asarray(sums[inner]).ravel()


def _lay(
    sums: FloatArray, groups: Groups, nodes: IntArray, numbers: FloatArray
) -> None:
    """Add numbers to every group that nodes can come to, as differences of sums."""
    if not groups.shape:
        sums += numbers.sum()
        return
    ends = []
    for axis, size in enumerate(groups.shape):
        code, least = groups.codes[axis][nodes], groups.least[axis]
        first = np.zeros(len(nodes), dtype=np.int64) if least is None else least[nodes]
        is_known = code >= 0
        ends.append(
            (np.where(is_known, code, first), np.where(is_known, code + 1, size))
        )
    for corner in product((0, 1), repeat=len(ends)):
        places = tuple(both[end] for both, end in zip(ends, corner, strict=True))
        np.add.at(sums, places, numbers * (-1) ** sum(corner))


def _of_everybody(
    tree: LevelledTree, groups: Groups, values: FloatArray, nodes: BoolArray
) -> FloatArray:
    """Return the squared error of counts that comes from how many units there are.

    What one number counts has the share of its leaves in the units that may be missed.

    Args:
        tree: Whose counts.
        groups: Of the question.
        values: One a group.
        nodes: That are counted.
    """
    leaves = 0.0
    if values.size == 1:
        leaves = float((nodes & tree.is_leaf).sum() / tree.is_leaf.sum())
    return of_everybody(tree, values, leaves, mixed=groups.mixed)


def sure(
    tree: LevelledTree,
    groups: Groups,
    times: IntArray | BoolArray,
    within: slice = EVERY,
) -> tuple[FloatArray, FloatArray]:
    """Return counts and variances, summed by group.

    Args:
        tree: Whose counts.
        groups: Of settled nodes.
        times: How often each node's count is taken; 0 where a node is not settled.
        within: These nodes alone.
    """
    nodes = _taken(times, within)
    codes = [code[nodes] for code in groups.codes]
    return _summed(tree, nodes, times, codes, groups.shape)


def doubted(
    tree: LevelledTree,
    groups: Groups,
    times: IntArray | BoolArray,
    within: slice = EVERY,
) -> FloatArray:
    """Return how much less sums of settled nodes may be, by group, 95 times in 100.

    What noise alone may have made is added up, and the half-width of all the others.
    """
    nodes = _taken(times, within)
    in_doubt = tree.doubts[nodes] > 0
    codes = [code[nodes] for code in groups.codes]
    others = [code[~in_doubt] for code in codes]
    _, variances = _summed(tree, nodes[~in_doubt], times, others, groups.shape)
    places = _joined(codes, len(nodes), groups.shape)
    doubts = times[nodes] * tree.doubts[nodes]
    sums = np.bincount(places, doubts, prod(groups.shape)).astype(np.float64)
    return np.asarray(WEIGHTED_QUANTILE * np.sqrt(variances) + sums)


def possible(
    tree: LevelledTree,
    groups: Groups,
    times: IntArray | BoolArray,
    within: slice = EVERY,
) -> tuple[FloatArray, FloatArray]:
    """Return what may belong to each group: nodes that no key leads elsewhere.

    Of sequences that go on somehow only the length is known from below: they belong to
    no shorter one.

    Args:
        tree: Whose counts.
        groups: Where keys lead.
        times: How often each node's count is taken.
        within: These nodes alone.
    """
    values, variances = np.zeros(groups.shape), np.zeros(groups.shape)
    nodes = _taken(times, within)
    known = [code[nodes] >= 0 for code in groups.codes]
    for pattern in product((False, True), repeat=len(known)):
        fits = np.ones(len(nodes), dtype=np.bool_)
        for is_known, wanted in zip(known, pattern, strict=True):
            fits &= is_known == wanted
        if fits.any():
            value, variance = _reached(tree, groups, nodes[fits], times, pattern)
            values += value
            variances += variance
    return values.ravel(), variances.ravel()


def _reached(
    tree: LevelledTree,
    groups: Groups,
    nodes: IntArray,
    times: IntArray | BoolArray,
    known: Sequence[bool],
) -> tuple[FloatArray, FloatArray]:
    """Sum nodes over the groups that they can come to; 1 long where it is any."""
    places: list[IntArray] = []
    taken, laid, onwards = [], [], []
    for axis, size in enumerate(groups.shape):
        place = groups.codes[axis] if known[axis] else groups.least[axis]
        laid.append(1 if place is None else size)
        if place is not None:
            places.append(place[nodes])
            taken.append(size)
            onwards += [] if known[axis] else [axis]
    value, variance = _summed(tree, nodes, times, places, tuple(taken))
    return _onwards(value.reshape(laid), onwards), _onwards(
        variance.reshape(laid), onwards
    )


def _onwards(sums: FloatArray, axes: Sequence[int]) -> FloatArray:
    """Let what begins at a place stand at every later one, too."""
    for axis in axes:
        sums = sums.cumsum(axis=axis)
    return sums


def _taken(times: IntArray | BoolArray, within: slice) -> IntArray:
    return np.flatnonzero(times[within]) + (within.start or 0)


def _summed(
    tree: LevelledTree,
    nodes: IntArray,
    times: IntArray | BoolArray,
    codes: Sequence[IntArray],
    shape: tuple[int, ...],
) -> tuple[FloatArray, FloatArray]:
    """Return counts and variances of disjoint nodes, so many times, by group.

    Args:
        tree: Whose counts.
        nodes: Which of them.
        times: How often each of all nodes counts; booleans: once.
        codes: Of these nodes, for each key.
        shape: How many values each key has.
    """
    counts, variances = tree.counts[nodes], tree.variances[nodes]
    if times.dtype != np.bool_:
        often = times[nodes]
        counts, variances = often * counts, often**2 * variances
    places, size = _joined(codes, len(nodes), shape), prod(shape)
    sums = np.bincount(places, counts, size).astype(np.float64)
    apart = np.bincount(places, variances, size).astype(np.float64)
    if tree.lean:
        together = np.bincount(places, np.sqrt(variances), size).astype(np.float64)
        apart = leaning(tree.lean, apart, together)
    return sums, apart


def _joined(codes: Sequence[IntArray], nodes: int, shape: tuple[int, ...]) -> IntArray:
    """Return each node's group, C order over the keys."""
    places = codes[0] if codes else np.zeros(nodes, dtype=np.int64)
    for code, size in zip(codes[1:], shape[1:], strict=True):
        places = places * size + code
    return places


# -- keys ------------------------------------------------------------------------


def places_of(column: KeyColumn, tree: LevelledTree) -> IntArray:
    """Return each node's place among a key's values; -1 where it is not known."""
    return _places(column.key, column, tree)


def _places(key: Key, column: KeyColumn, tree: LevelledTree) -> IntArray:
    match key:
        case GroupKey():
            return tree.groups
        case LengthKey():
            first = column.values[0]
            skipped = first if isinstance(first, int) else 0
            known = tree.known_lengths
            return _skipped(known, skipped) if skipped else known
        case SymbolKey(place):
            # the end shares its group with NULL, where that is a symbol
            return np.minimum(tree.at(place), len(column.values) - 1)
        case SlopeKey():
            return _bands(key, tree)


def _least_places(column: KeyColumn, tree: LevelledTree) -> IntArray | None:
    """Return the first of a key's values that each node can come to; None: any."""
    if not isinstance(column.key, LengthKey):
        return None
    first = column.values[0]
    shown = tree.lengths - (first if isinstance(first, int) else 0)
    return np.clip(shown, 0, len(column.values) - 1)


def _skipped(known: IntArray, least: int) -> IntArray:
    """Return lengths from the least that is shown; shorter ones are with it."""
    return np.where(known < 0, -1, np.maximum(known - least, 0))


def _bands(key: SlopeKey, tree: LevelledTree) -> IntArray:
    """Return the band of each slope: floor(slope / width + 1/2); NULL is last."""
    slopes = tree.slopes
    width = key.width * 10**tree.domain.alphabet.scale
    top = 2 * slopes.rise * width.denominator + slopes.run * width.numerator
    band = top // (2 * slopes.run * width.numerator) + key.most
    return np.where(tree.is_final, np.where(slopes.exists, band, 2 * key.most + 1), -1)
