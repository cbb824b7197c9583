"""What noisy evidence says of sequences, and which strategy suits it: a public rule."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.losses import Loss
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.bands import Bands
from release.sequences.models.picked import Evidence
from release.sequences.sealed.repeats import Bars
from release.sequences.strategies.ngram import (
    ORDER,
    counted_places,
    gram_threshold,
    relative_noise,
)
from release.sequences.strategies.prefix_tree import threshold

PICKS: Final = ("prefix_tree", "ngram")
"""The strategies of which one is picked."""

MANY: Final = 250.0
"""Units of each value of the split, times epsilon, below which a prefix tree is picked:
about as many as n-grams need to err less on most made-up logs."""

PART: Final = 0.6
"""Share of the mean length: so many first symbols of a unit are its beginning."""

LEAST_DEPTH: Final = 4
MOST_DEPTH: Final = 24
"""Symbols of a beginning, at the least and at the most."""

RUN: Final = 3
"""Symbols of a run, at the most."""

LEAST_SHARED: Final = 0.25
"""The part of the units looked at that beginnings hold above their bar, below which a
tree would know next to nothing."""

MORE_LOST: Final = 1.15
"""A tree is picked where beginnings lose at most so many times what runs do. Both
constants were chosen on made-up logs of sixteen shapes, and on Sepsis and MSNBC
(docs/sequences-accuracy.md)."""


def bars_for(
    domain: SequenceDomain, rest: Loss, bands: Bands, noise: Noise = LAPLACE
) -> Bars:
    """Return how far units are looked at, and about the thresholds of both strategies.

    n-grams are counted at many places of a unit, and looked at in one: their bar is so
    much lower.

    Args:
        domain: Public.
        rest: What the picked strategy is going to spend.
        bands: Noisy lengths of all groups together.
        noise: That the loss pays.
    """
    units = max(1.0, float(bands.units.sum()))
    mean = float(bands.starts(1).sum()) / units
    most = min(domain.max_length, MOST_DEPTH)
    depth = min(most, max(LEAST_DEPTH, round(PART * mean)))
    size = min(RUN, depth)
    each = Loss(rest.nano_epsilon // domain.max_length)
    scale = noise.scale(moved_by(1), each)
    cut = counted_places(domain, relative_noise(rest, ORDER, noise), bands, {})
    grams = gram_threshold(domain, cut, Loss(rest.nano_epsilon // ORDER), noise)
    return Bars(
        depth=depth,
        beginning=threshold(domain, scale, {}, noise),
        size=size,
        run=max(1, round(grams / _places(bands, (depth, size), cut))),
    )


def _places(bands: Bands, sizes: tuple[int, int], cut: int) -> float:
    """Return at how many places of a unit, on mean, n-grams count runs.

    Args:
        bands: Noisy lengths.
        sizes: Symbols that a unit has at the least to be looked at, and those of a run.
        cut: Of the n-grams.
    """
    depth, size = sizes
    units = bands.units.sum(axis=0)[depth - 1 :]
    lengths = np.arange(depth, bands.max_length + 1)
    places = (lengths - size + 1) * np.minimum(1.0, (cut - 1) / lengths)
    return max(1.0, float(units @ places) / max(1.0, float(units.sum())))


def pick(
    domain: SequenceDomain, rest: Loss, evidence: Evidence, noise: Noise = LAPLACE
) -> str:
    """Return the strategy that suits noisy evidence.

    A tree where there are few units, or where a unit's whole way so far is shared about
    as much as three symbols of it are: n-grams tell such ways with more noise.

    Args:
        domain: Public.
        rest: What the picked strategy is going to spend.
        evidence: As published.
        noise: That the loss pays.
    """
    tree, grams = PICKS
    units = sum(evidence.lengths) / domain.groups
    if units * worth(domain, rest, noise) < MANY:
        return tree
    counts = np.array(evidence.lengths).reshape(1, -1)
    bands = Bands(domain.max_length, counts, evidence.lengths_scale)
    depth = bars_for(domain, rest, bands, noise).depth
    long = float(bands.units[:, depth - 1 :].sum())
    return tree if few_ways(long, evidence.repeats) else grams


def worth(domain: SequenceDomain, rest: Loss, noise: Noise) -> float:
    """Return what a unit is multiplied with before it is held against ``MANY``.

    The epsilon, where losses are pure. Of a rho, the epsilon at which n-grams have
    Laplace noise as wide, times how much less a tree gains: the noise of ``max_length``
    levels grows with their root, no longer with their number.
    """
    if not noise.has_l2:
        return float(rest.epsilon)
    grams = ORDER / relative_noise(rest, ORDER, noise)
    return grams * min(1.0, math.sqrt(ORDER / domain.max_length))


def few_ways(units: float, repeats: Sequence[int]) -> bool:
    """Return whether beginnings are shared about as much as short runs are.

    Args:
        units: Noisy, that were looked at.
        repeats: As published.
    """
    both, apart = repeats
    beginnings, runs = (both + apart) / 2, (both - apart) / 2
    lost = units - beginnings, units - runs
    return beginnings >= LEAST_SHARED * units and lost[0] <= MORE_LOST * lost[1]
