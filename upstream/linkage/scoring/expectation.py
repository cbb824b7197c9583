"""Expectation and maximisation: m of every level, from pairs that nobody labelled.

The samples of all passes are learnt from at once. In the sample of a pass its own
fields say nothing, since its pairs agree on them by construction; each pass has a share
of matches of its own; the levels' m are common to all (Winkler 2002; as splink's
sessions, but without averaging what each of them found).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from upstream.linkage.scoring.samples import Codes, Counts, Sample

LOWEST_U = 1e-7
"""More seldom than that nothing is believed to agree by accident: ids are shared."""
_ITERATIONS = 100
_CLOSE = 1e-5
_FIRST_SHARE = 0.05  # of matches in a pass, to begin with
_PRIOR_PAIRS = 2.0  # pairs at each level that smooth m

Levels = list[NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Field:
    """What learning knows of a field before.

    Attributes:
        by_accident: How often random pairs of known values are at each level, by code
            from 1; sums to 1.
        is_weighed: By code from 1: whether a level says anything.
    """

    by_accident: NDArray[np.float64]
    is_weighed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Learning:
    """What EM learns from.

    Attributes:
        fields: In order.
        samples: Of the passes.
        silent: By pass: whether a field says nothing there, since it is its key.
        pairs: All pairs of records that could be one patient's.
        labelled: Patterns of pairs that are matches for certain.
    """

    fields: Sequence[Field]
    samples: Sequence[Sample]
    silent: Sequence[NDArray[np.bool_]]
    pairs: float
    labelled: Codes


@dataclass(frozen=True, slots=True)
class Learnt:
    """Probabilities by field, by code from 1, and the share of matches of all pairs."""

    m: Levels
    u: Levels
    prior: float
    iterations: int


def learn(given: Learning) -> Learnt:
    """Return m, u and the prior; the same of the same input, to the last bit."""
    m = [_first_guess(field) for field in given.fields]
    shares = [_FIRST_SHARE for _ in given.samples]
    prior, iterations = 0.0, 0
    for _ in range(_ITERATIONS):
        iterations += 1
        u = _without_matches(given, m, prior)
        before = m
        m, shares = _step(given, _weights(given, m, u), shares)
        prior = _rough_prior(given, shares)
        moved = [np.abs(a - b).max() for a, b in zip(m, before, strict=True)]
        if max(moved) < _CLOSE:
            break
    u = _without_matches(given, m, prior)
    return Learnt(m, u, _prior(given, _weights(given, m, u), prior), iterations)


def _first_guess(field: Field) -> NDArray[np.float64]:
    """Return m to begin with: mostly the same, seldom different."""
    levels = len(field.by_accident)
    guess = np.full(levels, 0.1 / max(1, levels - 2))
    guess[0], guess[-1] = 0.85, 0.05
    return np.asarray(guess / guess.sum())


def _without_matches(given: Learning, m: Levels, prior: float) -> Levels:
    """Return u: what random pairs show, without the matches among them."""
    found = []
    for field, own in zip(given.fields, m, strict=True):
        rest = (field.by_accident - prior * own) / (1 - prior)
        found.append(np.maximum(rest, np.maximum(LOWEST_U, field.by_accident / 100)))
    return found


def _weights(given: Learning, m: Levels, u: Levels) -> Levels:
    """Return natural logarithms of m / u by code from 0, of which 0 is missing."""
    found = []
    for field, own, other in zip(given.fields, m, u, strict=True):
        weights = np.where(field.is_weighed, np.log(own) - np.log(other), 0.0)
        found.append(np.concatenate(([0.0], weights)))
    return found


def _sums(codes: Codes, weights: Levels, silent: NDArray[np.bool_]) -> Counts:
    """Return the sum of weights of each pattern."""
    total = np.zeros(len(codes))
    for place, own in enumerate(weights):
        if not silent[place]:
            total += own[codes[:, place]]
    return total


def likelihoods(sums: Counts, share: float) -> Counts:
    """Return how likely pairs are matches, by natural weights and their share."""
    share = min(max(share, 1e-15), 1 - 1e-9)
    logits = np.clip(sums + np.log(share) - np.log1p(-share), -700, 700)
    return np.asarray(1 / (1 + np.exp(-logits)))


def _step(
    given: Learning, weights: Levels, shares: Sequence[float]
) -> tuple[Levels, list[float]]:
    """Return m and the passes' shares of matches after one round."""
    sizes = [len(field.by_accident) + 1 for field in given.fields]
    sums = [np.full(size, _PRIOR_PAIRS) for size in sizes]
    new_shares = []
    for sample, silent, share in zip(given.samples, given.silent, shares, strict=True):
        matches = sample.drawn * likelihoods(
            _sums(sample.codes, weights, silent), share
        )
        new_shares.append(float(matches.sum() / max(1.0, sample.drawn.sum())))
        for place, size in enumerate(sizes):
            if not silent[place]:
                sums[place] += _counted(sample.codes[:, place], matches, size)
    ones = np.ones(len(given.labelled))
    for place, size in enumerate(sizes):
        sums[place] += _counted(given.labelled[:, place], ones, size)
    return [_shared(t, f) for t, f in zip(sums, given.fields, strict=True)], new_shares


def _counted(codes: Codes, matches: Counts, size: int) -> Counts:
    return np.asarray(np.bincount(codes, matches, size), dtype=float)


def _shared(totals: Counts, field: Field) -> NDArray[np.float64]:
    """Return the parts of the levels that are weighed; others are as by accident."""
    known = np.where(field.is_weighed, totals[1:], 0.0)
    parts = known / known.sum()
    return np.where(field.is_weighed, parts, np.maximum(field.by_accident, LOWEST_U))


def _rough_prior(given: Learning, shares: Sequence[float]) -> float:
    """Return the share of matches of all pairs by the pass that finds the most."""
    found = [
        share * float(sample.counts.sum())
        for sample, share in zip(given.samples, shares, strict=True)
    ]
    return min(0.5, max(found, default=0.0) / max(1.0, given.pairs))


def _prior(given: Learning, weights: Levels, prior: float) -> float:
    """Return the share of matches of all pairs, each pair being counted in one pass."""
    none = np.zeros(len(given.fields), dtype=bool)
    sums = [_sums(each.codes, weights, none) for each in given.samples]
    for _ in range(_ITERATIONS):
        before, matches = prior, 0.0
        for sample, total in zip(given.samples, sums, strict=True):
            counts = np.where(sample.is_new, sample.counts, 0.0)
            matches += float((counts * likelihoods(total, prior)).sum())
        prior = max(min(matches / max(1.0, given.pairs), 0.5), 1e-14)
        if abs(prior - before) <= _CLOSE * before:
            break
    return prior
