"""Expectation and maximisation: m of every level, from pairs that nobody labelled.

The samples of all passes are learnt from at once (Winkler 2002). The levels' m are
common to all. Each pass has a share of matches of its own, and a u of its own for every
field, since records that agree on a town agree on its postcode, and those that agree on
an address are often a family: what is common in a pass says nothing of its pairs. So
families are not taken for the matches. In the sample of a pass its own fields say
nothing, because its pairs agree on them by construction.

Pairs that are no matches are of two classes: strangers, with the pass's own u, and
families, who may agree on whatever the data say but on what is a person's own (a birth
date, an id, a given name) only by accident. So the matches, which agree on these, are
not the largest group of pairs that have much in common, but persons.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from upstream.linkage.scoring.samples import Codes, Counts, Sample

LOWEST_U = 1e-7
"""More seldom than that nothing is believed to agree by accident: ids are shared."""
_ITERATIONS = 200
_CLOSE = 1e-4
_FIRST_SHARE = 0.05  # of matches in a pass, to begin with
_GUESSED_PAIRS = 20.0  # pairs as which the first guess of m counts
_RANDOM_PAIRS = 10.0  # pairs as which random ones count in the u of a pass
_FIRST_FAMILIES = 0.05  # share of pairs of families in a pass, to begin with

Levels = list[NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Field:
    """What learning knows of a field before.

    Attributes:
        by_accident: How often random pairs of known values are at each level, by code
            from 1; sums to 1.
        is_weighed: By code from 1: whether a level says anything.
        is_personal: Whether members of a family agree on it by accident alone.
    """

    by_accident: NDArray[np.float64]
    is_weighed: NDArray[np.bool_]
    is_personal: bool = False


@dataclass(frozen=True, slots=True)
class Learning:
    """What EM learns from.

    Attributes:
        fields: In order.
        samples: Of the passes.
        pairs: All pairs of records that could be one patient's.
        labelled: Patterns of pairs that are matches for certain.
    """

    fields: Sequence[Field]
    samples: Sequence[Sample]
    pairs: float
    labelled: Codes


@dataclass(frozen=True, slots=True)
class OfPass:
    """What is learnt of a pass.

    Attributes:
        share: Of matches among its pairs.
        families: Of pairs of families.
        u: By field, by code from 1: of its pairs of strangers.
        strangers: Pairs of strangers in its sample.
    """

    share: float
    families: float
    u: Levels
    strangers: float


@dataclass(frozen=True, slots=True)
class Learnt:
    """Probabilities by field, by code from 1.

    Attributes:
        m: Of matches.
        family: Of pairs of families.
        u: Of random pairs that are none.
        passes: What is learnt of each pass.
        prior: The share of matches among all pairs, roughly.
        iterations: How many it took.
    """

    m: Levels
    family: Levels
    u: Levels
    passes: Sequence[OfPass]
    prior: float
    iterations: int


def learn(given: Learning) -> Learnt:
    """Return m, u and the passes'; the same of the same input, to the last bit."""
    m = [first_guess(field) for field in given.fields]
    family = [_first_of_families(field) for field in given.fields]
    passes = [_first_of_pass(given, place) for place in range(len(given.samples))]
    iterations = 0
    for _ in range(_ITERATIONS):
        iterations += 1
        before = m
        m, family, passes = _step(given, m, family, passes)
        moved = [np.abs(a - b).max() for a, b in zip(m, before, strict=True)]
        if max(moved) < _CLOSE:
            break
    prior = _rough_prior(given, passes)
    u = _without_matches(given, m, prior)
    return Learnt(m, family, u, passes, prior, iterations)


def first_guess(field: Field) -> NDArray[np.float64]:
    """Return m to begin with: mostly the same, seldom different."""
    levels = len(field.by_accident)
    guess = np.full(levels, 0.1 / max(1, levels - 2))
    guess[0], guess[-1] = 0.85, 0.05
    return _shared(guess, field)


def _first_of_families(field: Field) -> NDArray[np.float64]:
    """Return how members of families agree, to begin with."""
    if field.is_personal:
        return field.by_accident
    return (first_guess(field) + field.by_accident) / 2


def _first_of_pass(given: Learning, place: int) -> OfPass:
    """Return u of a pass to begin with: between random pairs and all of its own."""
    sample, u = given.samples[place], []
    for at, field in enumerate(given.fields):
        own = _parts(sample, at, sample.drawn, field)
        u.append((own + field.by_accident) / 2)
    families = _FIRST_FAMILIES if any(f.is_personal for f in given.fields) else 0.0
    return OfPass(_FIRST_SHARE, families, u, float(sample.drawn.sum()))


def _step(
    given: Learning, m: Levels, family: Levels, passes: Sequence[OfPass]
) -> tuple[Levels, Levels, list[OfPass]]:
    """Return m, families' and the passes' after one round."""
    firsts = [first_guess(each) for each in given.fields]
    sums = [_GUESSED_PAIRS * np.append(0, first) for first in firsts]
    kin = [_GUESSED_PAIRS * np.append(0, _first_of_families(f)) for f in given.fields]
    found = []
    for sample, own in zip(given.samples, passes, strict=True):
        matches, families = _classes(given, sample, (m, family), own)
        for place in map(int, np.flatnonzero(~sample.silent)):
            size, codes = len(sums[place]), sample.codes[:, place]
            sums[place] = sums[place] + _counted(codes, matches, size)
            kin[place] = kin[place] + _counted(codes, families, size)
        found.append(_of_pass(given.fields, sample, matches, families))
    ones = np.ones(len(given.labelled))
    for place, total in enumerate(sums):
        sums[place] = total + _counted(given.labelled[:, place], ones, len(total))
    m = [_shared(t[1:], f) for t, f in zip(sums, given.fields, strict=True)]
    family = [
        f.by_accident if f.is_personal else t[1:] / t[1:].sum()
        for t, f in zip(kin, given.fields, strict=True)
    ]
    return m, family, found


def _classes(
    given: Learning,
    sample: Sample,
    shared: tuple[Levels, Levels],
    own: OfPass,
) -> tuple[Counts, Counts]:
    """Return how many pairs of each pattern are matches, and families'."""
    odds = []
    for share, levels in zip((own.share, own.families), shared, strict=True):
        weights = weights_of(given.fields, levels, own.u)
        total = sums_of(sample.codes, weights, sample.silent)
        rest = max(1e-9, 1 - own.share - own.families)
        odds.append(np.clip(total + np.log(max(share, 1e-300) / rest), -700, 700))
    top = np.maximum(0, np.maximum(*odds))
    parts = [np.exp(each - top) for each in odds]
    whole = parts[0] + parts[1] + np.exp(-top)
    return sample.drawn * parts[0] / whole, sample.drawn * parts[1] / whole


def _of_pass(
    fields: Sequence[Field], sample: Sample, matches: Counts, families: Counts
) -> OfPass:
    """Return what is known of a pass whose matches and families are known."""
    strangers = sample.drawn - matches - families
    whole = max(1.0, float(sample.drawn.sum()))
    return OfPass(
        float(matches.sum()) / whole,
        float(families.sum()) / whole,
        [_parts(sample, place, strangers, each) for place, each in enumerate(fields)],
        float(strangers.sum()),
    )


def _parts(
    sample: Sample, place: int, pairs: Counts, field: Field
) -> NDArray[np.float64]:
    """Return how often a field of some pairs is at each level, by code from 1."""
    size = len(field.by_accident) + 1
    own = _counted(sample.codes[:, place], pairs, size)[1:]
    own = own + _RANDOM_PAIRS * field.by_accident
    return np.asarray(own / own.sum())


def _counted(codes: Codes, matches: Counts, size: int) -> Counts:
    return np.asarray(np.bincount(codes, matches, size), dtype=float)


def _shared(totals: Counts, field: Field) -> NDArray[np.float64]:
    """Return the parts of the levels that are weighed; others are as by accident."""
    known = np.where(field.is_weighed, totals, 0.0)
    parts = known / known.sum()
    return np.where(field.is_weighed, parts, np.maximum(field.by_accident, LOWEST_U))


def weights_of(fields: Sequence[Field], m: Levels, u: Levels) -> Levels:
    """Return natural logarithms of m / u by code from 0, of which 0 is missing."""
    found = []
    for field, own, other in zip(fields, m, u, strict=True):
        floored = np.maximum(other, LOWEST_U)
        weights = np.where(field.is_weighed, np.log(own) - np.log(floored), 0.0)
        found.append(np.concatenate(([0.0], weights)))
    return found


def sums_of(codes: Codes, weights: Levels, silent: NDArray[np.bool_]) -> Counts:
    """Return the sum of weights of each pattern."""
    total = np.zeros(len(codes))
    for place, own in enumerate(weights):
        if not silent[place]:
            total += own[codes[:, place]]
    return total


def _without_matches(given: Learning, m: Levels, prior: float) -> Levels:
    """Return u: what random pairs show, without the matches among them."""
    found = []
    for field, own in zip(given.fields, m, strict=True):
        rest = (field.by_accident - prior * own) / (1 - prior)
        least = np.maximum(LOWEST_U, field.by_accident / 100)
        found.append(np.maximum(rest, least))
    return found


def _rough_prior(given: Learning, passes: Sequence[OfPass]) -> float:
    """Return the share of matches of all pairs by the pass that finds the most."""
    found = [
        own.share * float(sample.counts.sum())
        for sample, own in zip(given.samples, passes, strict=True)
    ]
    return min(0.5, max(found, default=0.0) / max(1.0, given.pairs))
