"""Rounds after the tree of `marginals`: choose a pair, measure it, fit again."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil
from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.noises import Noise
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.intervals import noise_variance
from release.contract.models import IntArray
from release.contract.parameters import refuse_small_choices, refuse_small_parts
from release.contract.rho.distances import table_l2_squared
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Parameters
from release.cubes.models.marginals.fit import Marginals, Rounds
from release.cubes.models.marginals.marginals import MarginalsModel
from release.cubes.models.marginals.weighed_rows import WeighedRows
from release.cubes.strategies.marginals.sealed_marginals import (
    Pair,
    pair_distances,
    pair_sums,
)

MOST_ROUNDS: Final = 20
"""The fit passes over every table; its steps bound what a question takes."""

RHO_ROUNDS: Final = 12
"""Where losses are rho, unless asked for otherwise: a round costs the root of what it
does in epsilon. Chosen on Adult (docs/releases-accuracy.md)."""


def asked_rounds(domain: CubeDomain, parameters: Parameters, noise: Noise) -> int:
    """Return how many rounds there are: as asked for, as far as pairs are left.

    Raises:
        ReleaseRefusedError: It is no number of rounds.
    """
    asked = parameters.get("rounds", RHO_ROUNDS if noise.has_l2 else 0)
    most = MOST_ROUNDS
    if not isinstance(asked, int) or isinstance(asked, bool) or not 0 <= asked <= most:
        message = f"rounds is a whole number from 0 to {most}"
        raise ReleaseRefusedError(message)
    count = len(domain.dimensions)
    return min(asked, (count - 1) * (count - 2) // 2)


def round_weights(
    rounds: int, choice: Fraction, table: Fraction
) -> list[tuple[str, Fraction]]:
    """Return the parts of each round's choice and table with their weights."""
    choices = [(_choice(turn), choice) for turn in range(rounds)]
    return choices + [(_table(turn), table) for turn in range(rounds)]


def refuse_small_rounds(
    domain: CubeDomain, parts: tuple[Part, ...], noise: Noise
) -> None:
    """Refuse, before any charge, rounds that would buy no noise.

    Raises:
        ReleaseRefusedError: The noise would be wider than mechanisms draw.

    Neighbouring relation: add or remove all rows of one unit.
    """
    choices = [part for part in parts if part.name.startswith("round_choice")]
    tables = [part for part in parts if part.name.startswith("round_pair")]
    refuse_small_choices(domain.bound, choices, noise)
    refuse_small_parts(domain.bound, tables, noise)


def measure_rounds(
    cube: SealedCube, meter: Meter, tree: Marginals, rounds: int
) -> Marginals:
    """Return the tree's draws with those of all rounds.

    Neighbouring relation: add or remove all rows of one unit. One unit moves a score
    and a table by at most D. Proof: docs/proofs/marginals.md.
    """
    fit = MarginalsModel(cube.domain, tree)
    rows, total = fit.tree_rows(), fit.fit.total
    found, farthest = Rounds(), _farthest(cube.domain, tree)
    for turn in range(rounds):
        pair = _chosen(cube, meter, rows, (tree, found, total))
        sums = pair_sums(cube, [pair], tree.bins)
        drawn = meter.counts(_table(turn), sums, cube.domain.bound, l2_squared=farthest)
        noise = noise_variance(drawn.scale, drawn.noise)
        rows.told(pair, drawn.values, total, noise)
        tables = (*found.tables, drawn.values)
        found = Rounds((*found.pairs, pair), tables, drawn.scale)
    return replace(tree, rounds=found)


def _farthest(domain: CubeDomain, tree: Marginals) -> int:
    """Return how far one unit moves any pair's table at the most, in L2, squared.

    All rounds so have noise of one scale, whichever pairs they choose.
    """
    pairs = combinations(range(len(tree.bins)), 2)
    return max(table_l2_squared(domain, pair, tree.bins) for pair in pairs)


def _choice(turn: int) -> str:
    return f"round_choice_{turn + 1}"


def _table(turn: int) -> str:
    return f"round_pair_{turn + 1}"


def _chosen(
    cube: SealedCube,
    meter: Meter,
    rows: WeighedRows,
    known: tuple[Marginals, Rounds, float],
) -> Pair:
    """Return the pair farthest from the fit, less what noise would add."""
    tree, found, total = known
    have = {tuple(sorted(pair)) for pair in (*tree.pairs, *found.pairs)}
    every = combinations(range(len(tree.bins)), 2)
    pairs = [pair for pair in every if pair not in have]
    forecasts: list[tuple[Pair, IntArray]] = [
        (pair, np.rint(rows.shares(pair) * total).astype(np.int64)) for pair in pairs
    ]
    sizes = [len(forecast) for _, forecast in forecasts]
    penalties = np.array([ceil(size * tree.two_scale) for size in sizes])
    scores = pair_distances(cube, forecasts, tree.bins, penalties)
    turn = len(found.pairs)
    return pairs[meter.choose(_choice(turn), scores, cube.domain.bound)]
