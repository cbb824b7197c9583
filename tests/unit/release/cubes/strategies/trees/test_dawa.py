"""The partition, its exact costs, and an audit of the noise that hides a row."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mechanisms.scales.calibration import laplace_scale
from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.models.registry import MODELS
from release.cubes.strategies.trees.dawa import (
    Dawa,
    candidates,
    least_cost_partition,
    noise_shifts,
)
from tests.support.noise.meters import SeededSampler, cube_of, domain_of, epsilon, run

STEPS = np.repeat([3, 40, 0, 7], [16, 8, 30, 10])


def slow_cost(counts):
    mean = Fraction(int(counts.sum()), len(counts))
    return sum(abs(int(count) - mean) for count in counts)


def partitions(size, allowed, start=0):
    if start == size:
        yield ()
    for length in (1, 2, 4, 8):
        if (start, length) in allowed:
            for rest in partitions(size, allowed, start + length):
                yield (start, *rest)


def test_costs_are_the_exact_distances_from_the_mean_on_their_grids():
    line = np.random.default_rng(3).poisson(4, 37)
    starts, lengths = candidates(37)
    costs = cube_of(line).interval_costs(None, starts, lengths).unseal()
    for start, length, cost in zip(starts, lengths, costs, strict=True):
        assert cost == length * slow_cost(line[start : start + length])


def test_one_row_moves_no_cost_by_more_than_its_share_of_the_shift():
    generator = np.random.default_rng(4)
    starts, lengths = candidates(16)
    for _ in range(300):
        line = generator.poisson(2, 16)
        more = line.copy()
        more[generator.integers(16)] += 1
        moved = np.abs(
            cube_of(line).interval_costs(None, starts, lengths).unseal()
            - cube_of(more).interval_costs(None, starts, lengths).unseal()
        )
        assert (moved <= 2 * lengths - 2).all()
    shifts = noise_shifts(lengths, 16)
    # Its own move, and a rival's of up to 2 - 2/16 the other way, on its own grid.
    assert (shifts >= 2 * lengths - 2 + lengths * (2 - 2 / 16)).all()


def test_the_partition_found_is_the_first_among_all_of_least_cost():
    generator = np.random.default_rng(6)
    starts, lengths = candidates(8)
    allowed = set(zip(starts.tolist(), lengths.tolist(), strict=True))
    everything = list(partitions(8, allowed))
    for _ in range(100):
        costs = generator.integers(0, 12, len(starts))
        cost_of = dict(zip(zip(starts, lengths, strict=True), costs, strict=True))
        found = least_cost_partition(8, (starts, lengths, costs), Fraction(3))

        def total(partition, cost_of=cost_of):
            ends = (*partition, 8)
            return sum(
                int(cost_of[a, b - a]) * (8 // (b - a)) + 3 for a, b in pairwise(ends)
            )

        assert total(tuple(found.tolist())) == min(map(total, everything))


def test_without_noise_even_runs_are_exact_and_few():
    model, _ = run(Dawa(), cube_of(STEPS), epsilon("50"), factor=0)
    assert np.allclose(model.estimates(), STEPS)
    assert len(model.buckets) < 20


def test_the_model_is_rebuilt_from_its_facts_and_tables():
    plane = np.kron(np.arange(16).reshape(4, 4), np.ones((5, 3), dtype=int))
    model, _ = run(Dawa(), cube_of(plane), epsilon("1"))
    again = MODELS[model.kind](model.domain, model.facts(), model.tables())
    assert np.array_equal(again.estimates(), model.estimates())
    roll = Roll((np.arange(20) % 2, np.arange(12) % 3 - 1), (2, 2))
    for name in ("values", "variances", "half_widths"):
        assert np.array_equal(
            getattr(again.roll(roll), name), getattr(model.roll(roll), name)
        )


def test_with_frozen_noise_the_partition_depends_on_the_noise_and_counts_alone():
    first, _ = run(Dawa(), cube_of(STEPS), epsilon("1"), seed=5)
    second, _ = run(Dawa(), cube_of(STEPS), epsilon("1"), seed=5)
    assert np.array_equal(first.buckets, second.buckets)


def probability_of_pair(line, factor, size=200_000):
    """How often {1, 2}, {3} is chosen, at a loss of 1 for the partition."""
    starts, lengths = candidates(3)
    exact = cube_of(line).interval_costs(None, starts, lengths).unseal()
    shifts = noise_shifts(lengths, 2)
    sampler = SeededSampler(seed=int(line[1]))
    noisy = np.empty((size, len(starts)), dtype=np.int64)
    for place, shift in enumerate(shifts):
        scale = factor * laplace_scale(Fraction(int(shift)), epsilon("1"))
        noisy[:, place] = exact[place] + sampler.discrete_laplace(size, scale)
    penalty = 2 * 20  # of 1 / e2 = 20, on the grid of 1/2
    singles = 2 * noisy[:, :3]
    first = noisy[:, 3] + singles[:, 2] + 2 * penalty
    second = singles[:, 0] + noisy[:, 4] + 2 * penalty
    apart = singles.sum(axis=1) + 3 * penalty
    return float(np.mean((first < second) & (first < apart)))


@pytest.mark.statistical
@pytest.mark.parametrize(("factor", "holds"), [(1, True), (0.5, False)])
def test_two_arms_tell_the_halved_noise_and_not_the_right_one(factor, holds):
    one = probability_of_pair(np.array([0, 20, 40]), factor)
    other = probability_of_pair(np.array([0, 21, 40]), factor)
    # Each probability lies above 0.02: five standard errors of a log ratio are below
    # 0.08.
    loss = abs(np.log(one / other))
    assert (loss < 1 - 0.08) if holds else (loss > 1 + 0.08), (one, other, loss)


def test_too_many_cells_axes_and_shares_are_refused():
    for domain, parameters in [
        (domain_of(2**20 + 1), {}),
        (domain_of(2, 2, 2), {}),
        (domain_of(9), {"partition_share": "0.6", "spread_share": "0.4"}),
        (domain_of(9), {"partition_share": 2}),
        (domain_of(9), {"rho": "0.2"}),
    ]:
        with pytest.raises(ReleaseRefusedError):
            Dawa().parts(domain, epsilon("1"), parameters)
