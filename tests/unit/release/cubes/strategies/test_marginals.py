import gzip
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.counts import SparseCounts
from privacy.schema import ColumnType
from privacy.sealed import Exact
from release.contract.domain import CubeDomain, Dimension
from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.contract.sealed_cube import SealedCube
from release.cubes.models.marginals.fit import onto_simplex
from release.cubes.models.registry import MODELS
from release.cubes.strategies.marginals.marginals import (
    LEAST_SHARE,
    MOST_SHARE,
    MarginalTables,
    bins_of,
    one_way_share,
)
from release.cubes.strategies.marginals.sealed_marginals import (
    one_way_sums,
    pair_distances,
    pair_sums,
)
from tests.support.noise.meters import cube_of, domain_of, epsilon, run

LEAST_MOST = (LEAST_SHARE, MOST_SHARE)


def chained(count=4_000, seed=0):
    """Three dimensions; the second follows the first, the third the second."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, 4, count)
    second = np.where(generator.random(count) < 0.9, first, 0)
    third = np.where(generator.random(count) < 0.9, second % 3, 0)
    image = np.zeros((4, 4, 3), dtype=int)
    np.add.at(image, (first, second, third), 1)
    return image


def test_parts_sum_exactly_to_the_charge_and_there_is_one_choice_an_edge():
    for text in ("1", "0.1", "0.000000777"):
        asked = {"one_way_share": "0.3"}
        parts = MarginalTables().parts(domain_of(4, 4, 3), epsilon(text), asked)
        assert sum(p.loss.nano_epsilon for p in parts) == epsilon(text).nano_epsilon
        assert [p.name for p in parts] == ["one_way", "choice_1", "choice_2", "two_way"]


def test_a_noisy_size_decides_the_share_of_one_way_tables_unless_it_is_asked_for():
    domain, loss = domain_of(4, 4, 3), epsilon("0.1")
    parts = MarginalTables().parts(domain, loss, {})
    assert [(p.name, str(p.loss)) for p in parts] == [
        ("size", "0.002"),
        ("rest", "0.098"),
    ]

    def at(count, bound=1):
        return one_way_share(domain_of(4, 4, 3, bound=bound), count, parts[1].loss)

    counts = (-5, 0, 10, 1_000, 3_000, 10_000, 10**6, 10**9)
    shares = [at(count) for count in counts]
    assert shares == sorted(shares, reverse=True)
    assert (shares[0], shares[-1]) == (LEAST_MOST[1], LEAST_MOST[0])
    assert at(30_000, bound=10) == at(3_000)
    _, meter = run(MarginalTables(), cube_of(chained()), epsilon("1"))
    assert [part for part, _, _ in meter.seen] == ["size", "one_way", "two_way"]


@pytest.mark.parametrize("count", [300, 30_000])
def test_all_parts_are_spent_whatever_the_size_says(count):
    _, meter = run(MarginalTables(), cube_of(chained(count)), epsilon("0.3"))

    assert meter.seen[0][2] == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"one_way_share": "0.9", "choice_share": "0.2"},
        {"choice_share": "0.25"},
        {"tree": 1},
    ],
)
def test_parameters_that_do_not_fit_are_refused(parameters):
    with pytest.raises(ReleaseRefusedError):
        MarginalTables().parts(domain_of(4, 4), epsilon("1"), parameters)


def test_more_dimensions_than_it_takes_are_refused():
    with pytest.raises(ReleaseRefusedError):
        MarginalTables().parts(domain_of(*[2] * 31), epsilon("1"), {})


def test_without_noise_the_tree_is_found_and_its_pairs_are_right():
    image = chained()
    model, _ = run(MarginalTables(), cube_of(image), epsilon("1"), factor=0)
    assert model.drawn.pairs == ((0, 1), (1, 2))
    assert model.fit.total == pytest.approx(image.sum())
    pair = model.roll(Roll((np.arange(4), np.arange(4), np.zeros(3, int)), (4, 4, 1)))
    assert pair.values == pytest.approx(image.sum(axis=2).ravel(), rel=1e-2, abs=2)


def test_answers_agree_with_one_another():
    model, _ = run(MarginalTables(), cube_of(chained()), epsilon("1"))
    cells = model.estimates().reshape(4, 4, 3)
    assert np.all(cells >= 0)
    by_first = (np.arange(4), np.zeros(4, int), np.zeros(3, int))
    rows = model.roll(Roll(by_first, (4, 1, 1)))
    assert rows.values == pytest.approx(cells.sum(axis=(1, 2)))
    some = np.array([0, -1, 0])
    part = model.roll(Roll((np.arange(4), np.zeros(4, int), some), (4, 1, 1)))
    assert part.values == pytest.approx(cells[:, :, [0, 2]].sum(axis=(1, 2)))
    mask = np.ones((4, 4, 3), dtype=bool)
    mask[:, :, 1] = False
    masked = model.roll(Roll(by_first, (4, 1, 1), mask.ravel()))
    assert masked.values == pytest.approx(part.values)


def test_the_model_is_rebuilt_from_its_facts_and_tables():
    model, _ = run(MarginalTables(), cube_of(chained()), epsilon("1"))
    facts = json.loads(json.dumps(model.facts()))
    again = MODELS[model.kind](model.domain, facts, model.tables())
    roll = Roll((np.arange(4), np.zeros(4, int), np.arange(3)), (4, 1, 3))
    for name in ("values", "variances", "half_widths"):
        assert np.array_equal(
            getattr(again.roll(roll), name), getattr(model.roll(roll), name)
        )
    assert np.array_equal(again.synthetic(50), model.synthetic(50))


def test_synthetic_rows_have_the_shares_of_the_fit():
    model, _ = run(MarginalTables(), cube_of(chained()), epsilon("1"))
    rows = model.synthetic(20_000)
    image = np.zeros((4, 4, 3))
    np.add.at(image, tuple(rows.T), 1)
    fit = model.estimates().reshape(4, 4, 3) / model.fit.total
    assert np.abs(image / 20_000 - fit).sum() / 2 < 0.01


@settings(max_examples=60, deadline=None)
@given(
    image=st.lists(st.integers(0, 9), min_size=24, max_size=24),
    touched=st.lists(st.integers(0, 23), max_size=4, unique=True),
    forecast=st.lists(st.integers(-3, 30), min_size=12, max_size=12),
)
def test_one_unit_moves_tables_and_scores_as_stated(image, touched, forecast):
    more = np.array(image)
    more[touched] += 1
    bins = [np.arange(2), np.array([0, 1, 1]), np.arange(4)]
    pairs = [(0, 1), (1, 2)]
    forecasts = [((0, 2), np.array(forecast[:8])), ((0, 1), np.array(forecast[:4]))]
    vectors = []
    for counts in (np.array(image), more):
        cube = cube_of(counts.reshape(2, 3, 4), bound=4)
        penalties = np.zeros(2, dtype=np.int64)
        vectors.append(
            [
                one_way_sums(cube).unseal(),
                pair_sums(cube, pairs, bins).unseal(),
                pair_distances(cube, forecasts, bins, penalties).unseal(),
            ]
        )
    one_way, two_way, scores = (
        np.abs(mine - theirs) for mine, theirs in zip(*vectors, strict=True)
    )
    assert one_way.sum() == 3 * len(touched)
    assert two_way.sum() == 2 * len(touched)
    assert scores.max() <= len(touched)


def test_the_noise_is_for_all_tables_together():
    cube, asked = cube_of(chained(), bound=5), {"one_way_share": "0.3"}
    model, meter = run(MarginalTables(), cube, epsilon("1"), asked)
    stated = {part: l1 for part, _, l1 in meter.seen if part.endswith("way")}
    assert stated == {"one_way": 5 * 3, "two_way": 5 * 2}
    assert model.drawn.one_scale == pytest.approx(15 / 0.3)


@pytest.mark.long
@pytest.mark.statistical
def test_totals_are_unbiased_over_many_runs():
    image = chained(300)
    errors = []
    for seed in range(500):
        model, _ = run(MarginalTables(), cube_of(image), epsilon("2"), seed=seed)
        errors.append(model.fit.total - image.sum())
    assert abs(np.mean(errors)) < 5 * np.std(errors) / np.sqrt(len(errors))


def test_bins_of_ordered_values_are_neighbours_of_like_mass():
    ordered = Dimension("a", ColumnType.INTEGER, tuple(range(100)), ordered=True)
    bins = bins_of(ordered, np.full(100, 0.01), 10)
    assert np.all(np.diff(bins) >= 0)
    assert np.all(np.bincount(bins) == 10)


def test_bins_of_unordered_values_keep_the_largest_apart():
    unordered = Dimension("a", ColumnType.INTEGER, tuple(range(6)))
    shares = np.array([0.1, 0.4, 0.05, 0.3, 0.1, 0.05])
    assert np.array_equal(bins_of(unordered, shares, 3), [2, 0, 2, 1, 2, 2])


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=9), st.floats(0.1, 90))
def test_the_nearest_point_of_the_simplex_is_on_it(values, total):
    nearest = onto_simplex(np.array(values), total)
    assert nearest.min() >= 0
    assert nearest.sum() == pytest.approx(total)


COLUMNS = (
    *("age", "workclass", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "hours-per-week", "income>50K"),
)
ORDERED = {"age", "education-num", "hours-per-week"}


def adult(folder):
    sizes = json.loads((folder / "adult-domain.json").read_text())
    with gzip.open(folder / "adult.csv.gz", "rt") as lines:
        names = next(lines).strip().split(",")
        table = np.loadtxt(lines, delimiter=",", dtype=np.int64)
    rows = table[:, [names.index(column) for column in COLUMNS]]
    dimensions = tuple(
        Dimension(
            column,
            ColumnType.INTEGER,
            tuple(range(sizes[column])),
            ordered=column in ORDERED,
        )
        for column in COLUMNS
    )
    return rows, CubeDomain(dimensions, 1)


def mean_distance(one, other, shape, ways):
    distances = []
    for axes in itertools.combinations(range(len(shape)), ways):
        sizes = [shape[axis] for axis in axes]
        if np.prod(sizes) <= 10_000:
            first, second = (
                np.bincount(
                    np.ravel_multi_index(tuple(rows[:, axes].T), sizes),
                    minlength=int(np.prod(sizes)),
                )
                / len(rows)
                for rows in (one, other)
            )
            distances.append(np.abs(first - second).sum() / 2)
    return np.mean(distances)


def test_synthetic_adults_are_nearer_than_those_of_the_peers_at_epsilon_one(test_data):
    rows, domain = adult(test_data / "adult_encoded")
    flat = np.ravel_multi_index(tuple(rows.T), domain.shape)
    cells, counts = np.unique(flat, return_counts=True)
    cube = SealedCube(domain, Exact(SparseCounts(cells, counts)))
    model, _ = run(MarginalTables(), cube, epsilon("1"))
    drawn = model.synthetic(round(model.fit.total))
    assert mean_distance(rows, drawn, domain.shape, 2) < 0.08
    assert mean_distance(rows, drawn, domain.shape, 3) < 0.15
    with pytest.raises(ValueError, match="15"):
        model.estimates()
