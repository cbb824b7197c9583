"""All one-way marginals and a tree of two-way ones, chosen by the data under noise."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, log, sqrt
from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.conversions.pure import pure_loss_floor
from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.losses import Loss
from release.contract.domain import CubeDomain, Dimension
from release.contract.errors import ReleaseRefusedError
from release.contract.intervals import noise_variance
from release.contract.models import CubeModel, FloatArray, IntArray
from release.contract.parameters import (
    divide,
    refuse_small_choices,
    refuse_too_small,
    refuse_unknown,
    share,
)
from release.contract.rho.distances import table_l2_squared
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.marginals.fit import (
    Marginals,
    binned,
    shares_of,
    total_of,
)
from release.cubes.models.marginals.marginals import MarginalsModel
from release.cubes.strategies.marginals.rounds import (
    asked_rounds,
    measure_rounds,
    refuse_small_rounds,
    round_weights,
)
from release.cubes.strategies.marginals.sealed_marginals import (
    Pair,
    one_way_sums,
    pair_distances,
    pair_sums,
)

MAX_DIMENSIONS: Final = 30
MAX_VALUES: Final = 100_000

WORTH: Final = 6.0
"""How many noise scales a cell of two bins should hold."""

FEWEST, MOST = 4, 64
"""Bins of a dimension that has more values."""


SIZE_SHARE: Final = Fraction(2, 100)
"""Share of the loss for a noisy size, by which the rest is shared out."""

LEAST_SHARE, MOST_SHARE = Fraction(3, 10), Fraction(8, 10)
"""Between which the one-way tables' share of the rest lies, unless it is asked for."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What all one-way tables, and all choices, take of what tables cost.

    ``rounds`` is how many are run after the tree; each has as much as an edge of it.
    """

    one_way: Fraction
    choice: Fraction
    rounds: int = 0


class MarginalTables:
    """Every dimension by itself, and the pairs of a spanning tree.

    Source: after McKenna, Miklau and Sheldon 2021 (MST), in pure epsilon, or in rho as
    there; docs/proofs/marginals.md.
    """

    name = "marginals"

    def __init__(self, noise: Noise = LAPLACE) -> None:
        self.noise = noise

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the parts of the one-way tables, of each choice, and of the pairs.

        Where no share of the one-way tables is asked for, the parts of a noisy size,
        which decides it, and of the rest.
        """
        refuse_unknown(parameters, ("one_way_share", "choice_share", "rounds"))
        _refuse_shape(domain)
        choice = share(parameters, "choice_share", "0.1")
        rounds = asked_rounds(domain, parameters, self.noise)
        if not _is_share_open(domain, parameters):
            one = share(parameters, "one_way_share", "0.3")
            return _tables_parts(domain, loss, Shares(one, choice, rounds), self.noise)
        size, rest = divide(loss, [("size", SIZE_SHARE), ("rest", 1 - SIZE_SHARE)])
        refuse_too_small(domain.bound, size.loss, self.noise)
        for one in (LEAST_SHARE, MOST_SHARE):  # either may be taken
            _tables_parts(domain, rest.loss, Shares(one, choice, rounds), self.noise)
        return size, rest

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the error of the total; the rest depends on what goes with what."""
        parts = self.parts(domain, loss, parameters)
        if _is_share_open(domain, parameters):
            choice = share(parameters, "choice_share", "0.1")
            least = Shares(LEAST_SHARE, choice)
            parts = _tables_parts(domain, parts[-1].loss, least, self.noise)
        moved = moved_by(
            domain.bound * len(domain.dimensions), one_way_l2_squared(domain)
        )
        variance = noise_variance(self.noise.scale(moved, parts[0].loss), self.noise)
        weights = sum(1 / len(dimension) for dimension in domain.dimensions)
        return Expectation(
            cell_rmse=None,
            total_rmse=sqrt(variance / weights),
            words="Counts of one dimension have the error of noise alone; of several, "
            "also of what a tree of pairs cannot know.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Measure, choose, measure. Neighbours: add or remove all rows of one unit."""
        bound = cube.domain.bound
        meter, shares_taken = _settled(cube, meter, parameters)
        one_way, one_scale = _one_way(cube, meter)
        total = total_of(one_way)
        shares = [shares_of(table, total) for table in one_way]
        two_scale = _two_scale(cube.domain, one_scale, shares_taken, meter.noise)
        bins = _all_bins(cube.domain, shares, total, two_scale)
        pairs = _choose(cube, meter, (shares, bins), (total, two_scale))
        tables: list[IntArray] = []
        if pairs:
            sums = pair_sums(cube, pairs, bins)
            moved = sum(table_l2_squared(cube.domain, pair, bins) for pair in pairs)
            noisy = meter.counts("two_way", sums, bound * len(pairs), l2_squared=moved)
            sizes = [_size(bins, pair) for pair in pairs]
            tables = np.split(noisy.values, np.cumsum(sizes)[:-1])
            two_scale = noisy.scale
        drawn = Marginals(
            tuple(one_way),
            one_scale,
            tuple(bins),
            tuple(pairs),
            tuple(tables),
            two_scale if pairs else 0.0,
            noise=meter.noise,
        )
        if shares_taken.rounds:
            drawn = measure_rounds(cube, meter, drawn, shares_taken.rounds)
        return MarginalsModel(cube.domain, drawn)


def _refuse_shape(domain: CubeDomain) -> None:
    if len(domain.dimensions) > MAX_DIMENSIONS or max(domain.shape) > MAX_VALUES:
        message = (
            f"marginals takes up to {MAX_DIMENSIONS} dimensions of up to {MAX_VALUES} "
            "values each"
        )
        raise ReleaseRefusedError(message)


def _choice(turn: int) -> str:
    return f"choice_{turn + 1}"


def _two_scale(
    domain: CubeDomain, one_scale: float, shares: Shares, noise: Noise
) -> float:
    """Return about the scale that the two-way tables will be drawn at."""
    count = len(domain.dimensions)
    two = 1 - shares.one_way - shares.choice
    steps = count - 1 + shares.rounds
    if not noise.has_l2:
        return one_scale * float(shares.one_way / two) * steps / count
    moved = steps * domain.bound * domain.most_in_cell / one_way_l2_squared(domain)
    return one_scale * sqrt(float(shares.one_way / two) * moved)


def one_way_l2_squared(domain: CubeDomain) -> int:
    """Return how far one unit moves all one-way tables together, in L2, squared.

    Neighbouring relation: add or remove all rows of one unit.
    """
    axes = range(len(domain.dimensions))
    return sum(table_l2_squared(domain, (axis,)) for axis in axes)


def _is_share_open(domain: CubeDomain, parameters: Parameters) -> bool:
    """Whether a noisy size decides how much the one-way tables take."""
    return "one_way_share" not in parameters and len(domain.dimensions) > 1


def _tables_parts(
    domain: CubeDomain, loss: Loss, shares: Shares, noise: Noise
) -> tuple[Part, ...]:
    """Return the parts of all tables and choices.

    Raises:
        ReleaseRefusedError: The shares leave nothing for pairs, or a part is too small.
    """
    if shares.one_way + shares.choice >= 1:
        message = "one_way_share and choice_share together are less than 1"
        raise ReleaseRefusedError(message)
    edges = len(domain.dimensions) - 1
    choice = shares.choice / max(1, edges + shares.rounds)
    table = (1 - shares.one_way - shares.choice) / max(1, edges + shares.rounds)
    weights = [
        ("one_way", shares.one_way),
        *((_choice(turn), choice) for turn in range(edges)),
        *round_weights(shares.rounds, choice, table),
        ("two_way", table * edges),
    ]
    parts = divide(loss, weights) if edges else (Part("one_way", loss),)
    tables = domain.bound * len(domain.dimensions)
    refuse_too_small(tables, parts[0].loss, noise, one_way_l2_squared(domain))
    refuse_small_choices(domain.bound, parts[1:][:edges], noise)
    refuse_small_rounds(domain, parts, noise)
    for part in parts[1:][-1:]:  # whichever pairs are chosen, in whichever bins
        squared = max(1, domain.bound**2 * edges)
        refuse_too_small(max(1, domain.bound * edges), part.loss, noise, squared)
    return parts


def _settled(
    cube: SealedCube, meter: Meter, parameters: Parameters
) -> tuple[Meter, Shares]:
    """Return what pays the tables, and how; spend ``size`` where that is open.

    Neighbouring relation: add or remove all rows of one unit; it moves the size by at
    most D.
    """
    domain, choice = cube.domain, share(parameters, "choice_share", "0.1")
    rounds = asked_rounds(domain, parameters, meter.noise)
    if not _is_share_open(domain, parameters):
        one = share(parameters, "one_way_share", "0.3")
        return meter, Shares(one, choice, rounds)
    drawn = meter.counts("size", cube.marginal(()), domain.bound)
    size, rest = int(drawn.values[0]), meter.left("rest")
    one = one_way_share(domain, size, _as_epsilon(rest, meter.noise))
    shares = Shares(one, choice, rounds)
    parts = _tables_parts(domain, rest, shares, meter.noise)
    return meter.divide("rest", parts), shares


def _as_epsilon(loss: Loss, noise: Noise) -> Loss:
    """Return the epsilon that the rule of shares reads: for a rho, what it pays for."""
    return pure_loss_floor(loss) if noise.has_l2 else loss


def one_way_share(domain: CubeDomain, size: int, loss: Loss) -> Fraction:
    """Return the share of one-way tables: the less, the more their values hold.

    Args:
        domain: Public.
        size: Noisy count of the whole cube.
        loss: Of all tables.

    The load is how many noise scales a value holds on average where the loss is spread
    over the dimensions. Chosen on made-up tables and Adult; docs/releases-accuracy.md.
    """
    values = len(domain.dimensions) * sum(domain.shape)
    load = max(size, 1) * float(loss.epsilon) / (domain.bound * values)
    twentieths = round(20 * (0.75 - 0.2 * log(load / 2)))
    return min(max(Fraction(twentieths, 20), LEAST_SHARE), MOST_SHARE)


def _one_way(cube: SealedCube, meter: Meter) -> tuple[list[IntArray], float]:
    """Measure all one-way tables as one vector: a unit moves it by D a dimension."""
    count = len(cube.domain.dimensions)
    moved = one_way_l2_squared(cube.domain)
    noisy = meter.counts(
        "one_way", one_way_sums(cube), cube.domain.bound * count, l2_squared=moved
    )
    ends = np.cumsum(cube.domain.shape)[:-1]
    return list(np.split(noisy.values, ends)), noisy.scale


def _all_bins(
    domain: CubeDomain, shares: list[FloatArray], total: float, scale: float
) -> list[IntArray]:
    worth = max(total, 1.0) / (WORTH * max(scale, 1e-9))
    most = int(min(max(sqrt(max(worth, 1.0)), FEWEST), MOST))
    return [
        bins_of(dimension, of_values, most)
        for dimension, of_values in zip(domain.dimensions, shares, strict=True)
    ]


def bins_of(dimension: Dimension, shares: FloatArray, most: int) -> IntArray:
    """Return the bin of each value: neighbours of about equal mass, or rare ones.

    Args:
        dimension: Whether its values have an order.
        shares: Noisy.
        most: How many bins there are at most.
    """
    if len(shares) <= most:
        return np.arange(len(shares))
    if dimension.ordered:
        middle = np.cumsum(shares) - shares / 2
        raw = np.minimum((middle * most).astype(np.int64), most - 1)
        return np.unique(raw, return_inverse=True)[1].ravel().astype(np.int64)
    bins = np.full(len(shares), most - 1, dtype=np.int64)
    large = np.sort(np.argsort(-shares, kind="stable")[: most - 1])
    bins[large] = np.arange(most - 1)
    return bins


def _choose(
    cube: SealedCube,
    meter: Meter,
    known: tuple[list[FloatArray], list[IntArray]],
    noise: tuple[float, float],
) -> list[Pair]:
    """Return a spanning tree's edges, from dimension 0 outwards.

    Each turn chooses among the pairs that reach one dimension more, by how far the
    pair's counts are from what independence predicts, less what noise would add.
    """
    shares, bins = known
    total, scale = noise
    sides = [binned(one, codes) for one, codes in zip(shares, bins, strict=True)]
    reached = {0}
    edges: list[Pair] = []
    for turn in range(len(bins) - 1):
        open_pairs = [
            (min(pair, key=lambda axis: axis not in reached), _outer(pair, reached))
            for pair in combinations(range(len(bins)), 2)
            if len(reached.intersection(pair)) == 1
        ]
        forecasts = [
            (pair, np.rint(np.outer(sides[pair[0]], sides[pair[1]]) * total))
            for pair in open_pairs
        ]
        exact = [(pair, table.ravel().astype(np.int64)) for pair, table in forecasts]
        penalties = np.array([ceil(_size(bins, pair) * scale) for pair in open_pairs])
        scores = pair_distances(cube, exact, bins, penalties)
        best = open_pairs[meter.choose(_choice(turn), scores, cube.domain.bound)]
        edges.append(best)
        reached.add(best[1])
    return edges


def _outer(pair: Pair, reached: set[int]) -> int:
    one, other = pair
    return other if one in reached else one


def _size(bins: list[IntArray], pair: Pair) -> int:
    one, other = pair
    return (int(bins[one].max()) + 1) * (int(bins[other].max()) + 1)
