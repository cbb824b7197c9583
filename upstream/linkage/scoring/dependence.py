"""Fields of which one follows another in pairs that are no matches.

Who lives in the same town has the same postcode; who lives at one address often has one
surname. If each of these were counted as if by accident, a family would outweigh what
parts its members. So u of a field is told apart by whether one other field, its
parent, agrees: a tree of dependence (Chow and Liu 1968), of the pairs that are no
matches alone, grown from the samples of the passes on one whole field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from upstream.linkage.scoring.expectation import (
    LOWEST_U,
    Field,
    Learning,
    Learnt,
    Levels,
    sums_of,
    weights_of,
)
from upstream.linkage.scoring.samples import Codes

_LIFT = 2.0  # times as often as by accident, from which on a field follows another
_ENOUGH = 20.0  # pairs that agree on both, from which on this is believed
_ROUNDS = 100
_CLOSE = 1e-5


@dataclass(frozen=True, slots=True)
class Parent:
    """What a field follows.

    Attributes:
        place: Of the parent among the fields.
        u: By code from 1, where the parent agrees.
    """

    place: int
    u: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Edge:
    gain: float
    parent: int
    child: int
    u: NDArray[np.float64]


def parents_of(given: Learning, found: Learnt) -> dict[int, Parent]:
    """Return the parents, by the place of the field that follows.

    What is a person's own is no parent: pairs that agree on it and are taken for no
    matches are often matches with many slips.

    Args:
        given: What was learnt from.
        found: What was learnt.
    """
    edges = [
        edge
        for at, sample in enumerate(given.samples)
        if sample.whole is not None and not given.fields[sample.whole].is_personal
        for edge in _edges(given, found, at, sample.whole)
    ]
    chosen: dict[int, Parent] = {}
    for edge in sorted(edges, key=lambda one: (-one.gain, one.parent, one.child)):
        if edge.child not in chosen and not _leads(chosen, edge.parent, edge.child):
            chosen[edge.child] = Parent(edge.parent, edge.u)
    return chosen


def _edges(given: Learning, found: Learnt, at: int, parent: int) -> list[_Edge]:
    """Return the fields that follow one, by how much is known by that."""
    own, edges = found.passes[at], []
    agreed = float(found.u[parent][0])
    for child, u in enumerate(own.u):
        if child == parent or not _is_enough(given, own.strangers, at, child, u):
            continue
        lift = float(u[0] / max(found.u[child][0], LOWEST_U))
        if lift >= _LIFT:
            gain = agreed * float(u[0]) * log2(lift)
            edges.append(_Edge(gain, parent, child, u))
    return edges


def _is_enough(
    given: Learning, strangers: float, at: int, child: int, u: NDArray[np.float64]
) -> bool:
    """Whether enough pairs of a sample that are no matches agree on a field."""
    sample = given.samples[at]
    is_known = sample.codes[:, child] > 0
    known = float(sample.drawn[is_known].sum() / max(1.0, sample.drawn.sum()))
    return float(u[0]) * known * strangers >= _ENOUGH


def _leads(chosen: Mapping[int, Parent], start: int, end: int) -> bool:
    """Whether a field is, or follows by any number of steps, another."""
    while start != end:
        if start not in chosen:
            return False
        start = chosen[start].place
    return True


@dataclass(frozen=True, slots=True)
class Shares:
    """Parts of all pairs of records.

    Attributes:
        matches: Pairs of one patient's.
        families: Pairs of a family's.
    """

    matches: float
    families: float


def shares_of(
    given: Learning,
    found: Learnt,
    parents: Mapping[int, Parent],
    near: Sequence[int],
) -> Shares:
    """Return the shares of matches and families, each pair being counted in one pass.

    Args:
        given: What was learnt from.
        found: What was learnt.
        parents: Of the fields that follow another.
        near: By field: levels, from the best, at which it agrees as a parent.
    """
    samples = [each for each in given.samples if each.is_new.any()]
    sums = [
        tuple(
            _natural_sums(given.fields, (levels, found.u), parents, near, each.codes)
            for levels in (found.m, found.family)
        )
        for each in samples
    ]
    shares = Shares(found.prior, found.prior)
    for _ in range(_ROUNDS):
        before, totals = shares, np.zeros(2)
        for sample, pair in zip(samples, sums, strict=True):
            counts = np.where(sample.is_new, sample.counts, 0.0)
            totals += [float((counts * each).sum()) for each in _parts(pair, shares)]
        matches, families = np.clip(totals / max(1.0, given.pairs), 1e-14, 0.4)
        shares = Shares(float(matches), float(families))
        if abs(shares.matches - before.matches) <= _CLOSE * before.matches:
            break
    return shares


def _parts(
    sums: tuple[NDArray[np.float64], ...], shares: Shares
) -> list[NDArray[np.float64]]:
    """Return how likely patterns are matches', and families'."""
    rest = 1 - shares.matches - shares.families
    odds = [
        np.clip(total + np.log(share / rest), -700, 700)
        for total, share in zip(sums, (shares.matches, shares.families), strict=True)
    ]
    top = np.maximum(0, np.maximum(*odds))
    parts = [np.exp(each - top) for each in odds]
    whole = parts[0] + parts[1] + np.exp(-top)
    return [np.asarray(each / whole) for each in parts]


def _natural_sums(
    fields: Sequence[Field],
    found: tuple[Levels, Levels],
    parents: Mapping[int, Parent],
    near: Sequence[int],
    codes: Codes,
) -> NDArray[np.float64]:
    """Return how much likelier than strangers' patterns are, as natural logarithms."""
    levels, u = found
    weights = weights_of(fields, levels, u)
    total = sums_of(codes, weights, np.zeros(len(fields), dtype=bool))
    for child, parent in parents.items():
        (after,) = weights_of([fields[child]], [levels[child]], [parent.u])
        own = codes[:, parent.place]
        agrees = (own > 0) & (own <= near[parent.place])
        change = (after - weights[child])[codes[:, child]]
        total += np.where(agrees, change, 0.0)
    return total
