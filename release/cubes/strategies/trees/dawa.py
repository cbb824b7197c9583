"""Buckets of even counts found by a noisy least-cost partition, then a tree of them."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter, Part
from privacy.counts import IntArray
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.models import CubeModel
from release.contract.parameters import (
    divide,
    refuse_too_small,
    refuse_unknown,
    share,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.parts.unevenness import Spread
from release.cubes.models.trees.orders import HILBERT, ROWS, hilbert_order
from release.cubes.strategies.trees.bucketed import (
    Buckets,
    measure_buckets,
    refuse_thin_levels,
)

MOST_CELLS: Final = 2**20
"""Beyond, products of counts and lengths would not fit 64 bits."""

MOST_AXES = 2

DOUBT: Final = Fraction(1)
"""How many scales of its noise a further bucket must save, besides its own count's
error: among many noisy runs some look good by luck alone."""

KNOWN: Final = ("partition_share", "spread_share")


class Dawa:
    """One or two dimensions, the second along a Hilbert curve.

    Source: Li, Hay and Miklau 2014, with the noise that its proof needs:
    docs/proofs/dawa.md.
    """

    name = "dawa"

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the parts of the partition, of what it hides, and of its counts."""
        refuse_unknown(parameters, KNOWN)
        if domain.size > MOST_CELLS or len(domain.shape) > MOST_AXES:
            message = f"dawa takes one or two dimensions and up to {MOST_CELLS} cells"
            raise ReleaseRefusedError(message)
        partition = share(parameters, "partition_share", "0.25")
        spread = share(parameters, "spread_share", "0.05")
        if partition + spread >= 1:
            message = "partition_share and spread_share leave nothing for the counts"
            raise ReleaseRefusedError(message)
        rest = 1 - partition - spread
        parts = divide(
            loss, [("partition", partition), ("spread", spread), ("counts", rest)]
        )
        refuse_too_small(4 * domain.size * domain.bound, parts[0].loss)
        refuse_too_small(2 * domain.bound, parts[1].loss)
        refuse_thin_levels(domain, parts[2].loss)
        return parts

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return that the data decide."""
        self.parts(domain, loss, parameters)
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words="Good where long runs of neighbouring cells have about one count.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Partition, count. Neighbouring relation: add or remove all rows of a unit."""
        refuse_unknown(parameters, KNOWN)
        domain = cube.domain
        plane = len(domain.shape) > 1
        order = hilbert_order(domain.shape) if plane else None
        starts, lengths = candidates(domain.size)
        longest = int(lengths.max())
        sealed = cube.interval_costs(order, starts, lengths)
        shifts = domain.bound * noise_shifts(lengths, longest)
        cost_error = Fraction(4 * domain.bound) / meter.left("partition").epsilon
        noisy = meter.interval_costs("partition", sealed, shifts)
        count_error = domain.bound / meter.left("counts").epsilon
        penalty = longest * (count_error + DOUBT * cost_error)
        found = least_cost_partition(domain.size, (starts, lengths, noisy), penalty)
        spreads = cube.spreads(order, found)
        apart = meter.counts("spread", spreads, 2 * domain.bound)
        buckets = Buckets(
            name=HILBERT if plane else ROWS,
            order=order,
            starts=found,
            spread=Spread(apart.values, apart.scale),
        )
        return measure_buckets(cube, meter, "counts", buckets, self.name)


def candidates(size: int) -> tuple[IntArray, IntArray]:
    """Return starts and lengths of all runs that a partition may use.

    Lengths are powers of two; a run starts at a multiple of half its length.

    >>> [part.tolist() for part in candidates(3)]
    [[0, 1, 2, 0, 1], [1, 1, 1, 2, 2]]
    """
    starts, lengths = [], []
    length = 1
    while length <= size:
        own = np.arange(0, size - length + 1, max(1, length // 2))
        starts.append(own)
        lengths.append(np.full(len(own), length))
        length *= 2
    return np.concatenate(starts), np.concatenate(lengths)


def noise_shifts(lengths: IntArray, longest: int) -> IntArray:
    """Return how far each run's noise must move to hide one row, on the run's grid.

    One row moves a run's cost by up to 2 - 2/m, and a rival partition's by up to 2 -
    2/longest the other way; both on the grid of 1/m, rounded up to an integer.

    Neighbouring relation: add or remove one row; times D for a unit.
    Source: docs/proofs/dawa.md.

    >>> noise_shifts(np.array([1, 2, 4]), 4).tolist()
    [2, 5, 12]
    """
    return np.asarray(np.maximum(1, 4 * lengths - 2 - 2 * lengths // longest))


def least_cost_partition(
    size: int, runs: tuple[IntArray, IntArray, IntArray], penalty: Fraction
) -> IntArray:
    """Return the first places of the partition of least noisy cost.

    Args:
        size: How many places there are.
        runs: Starts, lengths and noisy costs, each cost on the grid of its length.
        penalty: Of each bucket, on the grid of the longest run.

    All sums are exact integers, and ties go to the longest last run: the proof needs
    a fixed total order.
    """
    fixed = round(penalty)
    ending: list[list[tuple[int, int]]] = [[] for _ in range(size + 1)]
    for start, end, cost in _on_one_grid(runs):
        ending[end].append((start, cost + fixed))
    best, came_from = [0] * (size + 1), [0] * (size + 1)
    for end in range(1, size + 1):
        best[end], came_from[end] = min(
            (best[start] + cost, start) for start, cost in ending[end]
        )
    starts: list[int] = []
    end = size
    while end:
        end = came_from[end]
        starts.append(end)
    return np.array(starts[::-1], dtype=np.int64)


def _on_one_grid(
    runs: tuple[IntArray, IntArray, IntArray],
) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and cost in steps of one over the longest length."""
    starts, lengths, costs = (column.tolist() for column in runs)
    longest = max(lengths)
    for start, length, cost in zip(starts, lengths, costs, strict=True):
        yield start, start + length, cost * (longest // length)
