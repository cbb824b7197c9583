from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.measuring.meter import Meter
from privacy.charges import Charge
from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.models.registry import MODELS
from release.cubes.strategies.partitions.agrid import AdaptiveGrid
from release.cubes.strategies.partitions.dpcube import DPCube
from release.cubes.strategies.registry import STRATEGIES
from tests.effort import rounds
from tests.support.noise.meters import cube_of, domain_of, epsilon, run
from tests.support.noise.replays import KeepingMeter, ReplayMeter
from tests.support.noise.samplers import ZeroVectorSampler

FOLDER = "release.cubes.strategies.partitions"
PARTITIONS = [
    own for own in STRATEGIES.values() if type(own).__module__.startswith(FOLDER)
]
each = pytest.mark.parametrize("strategy", PARTITIONS, ids=lambda s: s.name)


def spiky(*shape, seed=1):
    generator = np.random.default_rng(seed)
    image = generator.poisson(generator.gamma(0.3, 40, shape))
    image.ravel()[7] = 3_000
    return image


def ranges(shape, generator):
    codes = []
    for length in shape:
        first, last = np.sort(generator.integers(0, length, 2))
        of_values = np.full(length, -1, dtype=np.int64)
        of_values[first : last + 1] = 0
        codes.append(of_values)
    return Roll(tuple(codes), (1,) * len(shape))


def exact(image, roll):
    kept = np.ix_(*[codes >= 0 for codes in roll.codes])
    return image[kept].sum()


@each
def test_parts_sum_exactly_to_the_charge_and_have_names_of_their_own(strategy):
    for text in ("0.1", "1", "0.000001337"):
        parts = strategy.parts(domain_of(9, 9), epsilon(text), {})
        assert sum(p.loss.nano_epsilon for p in parts) == epsilon(text).nano_epsilon
        assert len({part.name for part in parts}) == len(parts)


def test_the_two_phases_of_dpcube_compose_in_sequence_at_the_split_asked_for():
    parts = DPCube().parts(domain_of(9, 9), epsilon("1"), {"split": "0.3"})
    *first, second = parts
    assert second.name == "partitions"
    assert sum(p.loss.nano_epsilon for p in first) == pytest.approx(3e8, abs=4)


@each
def test_a_strategy_refuses_parameters_and_domains_that_do_not_fit(strategy):
    with pytest.raises(ReleaseRefusedError):
        strategy.parts(domain_of(4), epsilon("1"), {"depth": 3})
    with pytest.raises(ReleaseRefusedError):
        strategy.parts(domain_of(30_000, 30_000), epsilon("1"), {})
    with pytest.raises(ReleaseRefusedError):
        strategy.parts(domain_of(*[2] * 11), epsilon("1"), {})


@pytest.mark.parametrize(
    "parameters",
    [
        {"split_rule": "median"},
        {"gain_threshold": -1},
        {"gain_threshold": "3"},
        {"split": "1"},
    ],
)
def test_dpcube_refuses_a_rule_that_it_does_not_have(parameters):
    with pytest.raises(ReleaseRefusedError):
        DPCube().parts(domain_of(4), epsilon("1"), parameters)


@each
def test_without_noise_and_with_counts_enough_every_cell_is_exact(strategy):
    image = spiky(6, 5) * 10_000 + 10_000
    model, _ = run(strategy, cube_of(image), epsilon("1"), factor=0)
    assert len(model.pieces) == image.size
    assert model.estimates() == pytest.approx(image.ravel(), abs=1e-3)


@each
def test_without_noise_the_total_is_exact_through_the_real_meter(strategy):
    cube = cube_of(spiky(16, 3, 8), bound=2)
    parts = strategy.parts(cube.domain, epsilon("0.5"), {})
    meter = Meter(Charge("q", epsilon("0.5")), parts, ZeroVectorSampler())
    model = strategy.measure(cube, meter, {})
    assert model.estimates().sum() == pytest.approx(spiky(16, 3, 8).sum(), abs=1e-3)


@pytest.mark.sampled
@each
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_given_the_noisy_values_one_unit_moves_no_vector_by_more_than_its_bound(
    strategy, data
):
    bound = data.draw(st.integers(1, 5))
    seed = data.draw(st.integers(0, 10**6))
    image = spiky(12, 10, seed=seed)
    touched = data.draw(
        st.lists(st.integers(0, image.size - 1), max_size=bound, unique=True)
    )
    neighbour = image.copy()
    neighbour.ravel()[touched] += 1
    loss = epsilon("0.4")
    parts = strategy.parts(domain_of(12, 10, bound=bound), loss, {})
    record = KeepingMeter(loss, parts, seed)
    first = strategy.measure(cube_of(image, bound), record, {})
    replay = ReplayMeter(record)
    second = strategy.measure(cube_of(neighbour, bound), replay, {})
    for (name, one, l1), (again, other, _) in zip(
        record.seen, replay.seen, strict=True
    ):
        assert name == again
        assert l1 == bound
        assert np.abs(one - other).sum() <= len(touched) <= bound
    assert np.array_equal(first.pieces.lower, second.pieces.lower)
    assert np.array_equal(first.estimates(), second.estimates())


@pytest.mark.parametrize("rule", ["squared_error", "information_gain"])
def test_with_frozen_noisy_cells_the_partition_is_the_same_whatever_the_raw_counts(
    rule,
):
    strategy, parameters = DPCube(), {"split_rule": rule}
    parts = strategy.parts(domain_of(24, 20), epsilon("0.5"), parameters)
    record = KeepingMeter(epsilon("0.5"), parts)
    one = strategy.measure(cube_of(spiky(24, 20)), record, parameters)
    other = strategy.measure(
        cube_of(spiky(24, 20, seed=2)), ReplayMeter(record), parameters
    )
    assert len(one.levels[2]) > 1
    for mine, theirs in zip(one.levels, other.levels, strict=True):
        assert np.array_equal(mine.parents, theirs.parents)
    assert np.array_equal(one.pieces.upper, other.pieces.upper)


@each
def test_the_model_is_rebuilt_from_its_facts_and_tables(strategy):
    model, _ = run(strategy, cube_of(spiky(11, 7)), epsilon("0.5"))
    again = MODELS[model.kind](model.domain, model.facts(), model.tables())
    roll = Roll((np.arange(11), np.zeros(7, dtype=np.int64)), (11, 1))
    for name in ("values", "variances", "half_widths"):
        assert np.array_equal(
            getattr(again.roll(roll), name), getattr(model.roll(roll), name)
        )


@each
def test_levels_are_nested_and_stand_in_the_order_of_their_parents(strategy):
    model, _ = run(strategy, cube_of(spiky(16, 16)), epsilon("0.5"))
    for level in model.levels:
        assert np.all(np.diff(level.parents) >= 0)
    covered = np.zeros((16, 16), dtype=np.int64)
    for lower, upper in zip(model.pieces.lower, model.pieces.upper, strict=True):
        covered[tuple(map(slice, lower, upper))] += 1
    assert np.all(covered == 1)


@each
def test_a_set_of_cells_is_answered_alike_as_a_product_and_as_a_mask(strategy):
    model, _ = run(strategy, cube_of(spiky(12, 9)), epsilon("0.5"))
    product = ranges((12, 9), np.random.default_rng(4))
    mask = np.logical_and.outer(*[codes >= 0 for codes in product.codes])
    everything = tuple(np.zeros(n, dtype=np.int64) for n in (12, 9))
    masked = model.roll(Roll(everything, (1, 1), mask))
    straight = model.roll(product)
    assert masked.values == pytest.approx(straight.values)
    assert masked.variances == pytest.approx(straight.variances)


def test_least_squares_and_its_variance_agree_with_linear_algebra():
    model, _ = run(AdaptiveGrid(), cube_of(spiky(8, 8)), epsilon("0.5"))
    rows, draws, weights = [], [], []
    inside = np.eye(len(model.pieces))
    for level in reversed(model.levels):
        rows.append(inside)
        draws.append(level.values)
        weights.append(np.full(len(level), 1 / level.scale**2))
        inside = np.stack(
            [inside[level.parents == p].sum(0) for p in range(level.parents[-1] + 1)]
        )
    design, weight = np.concatenate(rows), np.concatenate(weights)
    inverse = np.linalg.inv(design.T @ (weight[:, None] * design))
    fitted = inverse @ design.T @ (weight * np.concatenate(draws))
    assert model.fit.values[-1] == pytest.approx(fitted, rel=5e-2, abs=2)


@pytest.mark.long
@each
@pytest.mark.statistical
def test_totals_are_unbiased_over_many_runs(strategy):
    image = spiky(4, 4)
    whole = Roll(tuple(np.zeros(4, dtype=np.int64) for _ in "ab"), (1, 1))
    errors = []
    for seed in range(rounds(2_000)):
        model, _ = run(strategy, cube_of(image), epsilon("0.5"), seed=seed)
        errors.append(model.roll(whole).values[0] - image.sum())
    standard_error = np.std(errors) / np.sqrt(len(errors))
    assert abs(np.mean(errors)) < 5 * standard_error


@each
@pytest.mark.long
@pytest.mark.statistical
def test_intervals_of_ranges_cover_about_nineteen_times_in_twenty(strategy):
    image = spiky(32, 32)
    inside = asked = 0
    for seed in range(40):
        model, _ = run(strategy, cube_of(image), epsilon("0.2"), seed=seed)
        generator = np.random.default_rng(seed)
        for _ in range(25):
            roll = ranges((32, 32), generator)
            told = model.roll(roll)
            inside += abs(told.values[0] - exact(image, roll)) <= told.half_widths[0]
            asked += 1
    assert inside / asked > 0.9


def test_more_epsilon_and_more_counts_cut_more_finely():
    run_grid = partial(run, AdaptiveGrid())
    few, _ = run_grid(cube_of(spiky(32, 32)), epsilon("0.05"))
    more, _ = run_grid(cube_of(spiky(32, 32)), epsilon("1"))
    most, _ = run_grid(cube_of(spiky(32, 32) * 50), epsilon("1"))
    assert len(few.pieces) < len(more.pieces) < len(most.pieces)


def test_a_unit_that_touches_more_cells_gets_wider_noise():
    image = spiky(8, 8)
    one, _ = run(DPCube(), cube_of(image, bound=1), epsilon("1"))
    ten, _ = run(DPCube(), cube_of(image, bound=10), epsilon("1"))
    for mine, theirs in zip(one.levels, ten.levels, strict=True):
        assert Fraction(theirs.scale) / Fraction(mine.scale) == pytest.approx(10)
