import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mechanisms.samplers.vectors import OsVectorSampler
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.sequences.models.registry import MODELS
from release.sequences.strategies.prefix_tree import PrefixTree, going_on, threshold
from release.sequences.strategies.registry import STRATEGIES
from tests.support.data.sequences import (
    beginnings,
    log_domain,
    measure_log,
    occurrences_of,
    paths_of,
    random_log,
    sealed_log,
)
from tests.support.noise.meters import SeededSampler
from tests.support.noise.samplers import ZeroVectorSampler

LOGS = st.lists(st.lists(st.integers(0, 2), max_size=6), max_size=40)
BUDGETS = ("uniform", "geometric", "adaptive")


def drawn_paths(model):
    """Each kept node's path and noisy count."""
    above, found = [(group, ()) for group in range(model.domain.groups)], {}
    for level in model.drawn.levels:
        rows = zip(level.parents, level.symbols, level.values, strict=True)
        nodes = [((*above[p], s), v) for p, s, v in rows]
        above = [(key[0], (*key[1], int(key[2]))) for key, _ in nodes]
        found |= dict(zip(above, (int(v) for _, v in nodes), strict=True))
    return found


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "0.000000731"])
def test_parts_sum_to_the_loss_and_have_a_name_a_level(budget, epsilon):
    loss = Loss.parse(epsilon)
    parts = PrefixTree().parts(log_domain(5, 7), loss, {"budget": budget})
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon
    names = [part.name for part in parts]
    beside = ["lengths", "symbols"]
    if budget == "adaptive":
        assert names == [*beside, "level_1", "later"]
    else:
        assert names == beside + [f"level_{k}" for k in range(1, 8)]


@pytest.mark.parametrize("budget", BUDGETS)
def test_every_level_is_measured_once_and_nothing_is_left(budget):
    log = random_log(600, 3, 9, shortest=6)
    sealed = sealed_log(log, log_domain(3, 6))
    model, meter = measure_log(PrefixTree(), sealed, "5", {"budget": budget})
    assert not meter._left
    levels = [f"level_{k}" for k in range(1, 7)]
    assert [part for part, _, _ in meter.seen] == ["lengths", "symbols", *levels]
    assert all(l1 == 1 for _, _, l1 in meter.seen)
    drawn = model.drawn
    scales = [drawn.bands.scale, drawn.sampled.scale]
    scales += [level.scale for level in drawn.levels]
    assert sum(1 / scale for scale in scales) == pytest.approx(5, rel=1e-6)


def test_without_noise_kept_nodes_are_all_beginnings_and_exact():
    log, domain = random_log(300, 4, 8), log_domain(4, 5)
    model, _ = measure_log(
        PrefixTree(),
        sealed_log(log, domain),
        "1",
        {"threshold": 1},
        ZeroVectorSampler(),
    )
    truth = {(0, path): count for path, count in beginnings(log, domain).items()}
    assert drawn_paths(model) == truth


def test_without_noise_the_tree_tells_the_truth_and_runs_are_counted_exactly():
    log, domain = random_log(500, 3, 6), log_domain(3, 8)
    model, _ = measure_log(
        PrefixTree(),
        sealed_log(log, domain),
        "1000",
        {"threshold": 1},
        ZeroVectorSampler(),
    )
    tree, truth = model.paths(), beginnings(log, domain)
    told = dict(zip(paths_of(tree), tree.counts, strict=True))
    for path, count in truth.items():
        assert told[0, path] == pytest.approx(count, abs=0.02)
    begun = [path for path in truth if path[-1] != domain.end]
    for path, estimate in zip(begun, model.beginnings(begun), strict=True):
        assert estimate.value == pytest.approx(truth[path], abs=0.02)
    for run in itertools.product(range(3), repeat=3):
        estimate = model.occurrences([run])[0]
        assert estimate.value == pytest.approx(occurrences_of(run, log), abs=1)


@settings(max_examples=40, deadline=None)
@given(LOGS, st.integers(0, 10**6), st.sampled_from(["0.5", "5"]))
def test_counts_never_grow_along_a_path_and_children_sum_to_their_parent(
    log, seed, epsilon
):
    domain = log_domain(3, 4)
    model, _ = measure_log(
        PrefixTree(), sealed_log(log, domain), epsilon, {}, SeededSampler(seed)
    )
    tree = model.paths()
    inner = tree.parents >= 0
    assert (tree.counts >= 0).all()
    assert (tree.variances >= 0).all()
    assert (tree.counts[inner] <= tree.counts[tree.parents[inner]] + 1e-6).all()
    sums = np.bincount(tree.parents[inner], tree.counts[inner], len(tree.counts))
    with_children = np.unique(tree.parents[inner])
    assert sums[with_children] == pytest.approx(tree.counts[with_children], abs=1e-6)
    assert (np.diff(tree.parents) >= 0).all()
    told = model.occurrences([(0,), (1, 1), (2, 0, 1, 1, 1, 1)])
    assert all(math.isfinite(e.value) and e.value >= 0 for e in told)
    assert all(e.half_width > 0 for e in told)


@settings(max_examples=40, deadline=None)
@given(LOGS.filter(bool), st.integers(0, 10**6), st.data())
def test_one_unit_moves_each_level_by_one_at_the_most(log, seed, data):
    """The same choices of nodes, with and without the unit."""
    domain, away = log_domain(3, 4), data.draw(st.integers(0, len(log) - 1))
    parameters = {"threshold": 2}
    model, _ = measure_log(
        PrefixTree(), sealed_log(log, domain), "2", parameters, SeededSampler(seed)
    )
    neighbours = (log, log[:away] + log[away + 1 :])
    walks = [sealed_log(own, domain).roots() for own in neighbours]
    for depth in range(len(model.drawn.levels)):
        one, other = (walk.children().unseal() for walk in walks)
        moved = Counter(dict(zip(one.cells, one.counts, strict=True)))
        moved.subtract(dict(zip(other.cells, other.counts, strict=True)))
        assert sum(abs(count) for count in moved.values()) <= 1
        cells = _cells_of(model, depth)
        walks = [walk.down(cells) for walk in walks]


def _cells_of(model, depth):
    level, above = model.drawn.levels[depth], np.arange(1)
    if depth:
        above = np.flatnonzero(model.drawn.levels[depth - 1].grown)
    own = np.searchsorted(above, level.parents)
    return (own * (model.domain.symbols + 1) + level.symbols)[level.grown]


def _outcome(model):
    return frozenset(path for _, path in drawn_paths(model))


@pytest.mark.long
@pytest.mark.statistical
def test_the_shortcut_keeps_each_set_of_nodes_as_often_as_visiting_every_child():
    """Exhaustively: one symbol, two levels, 10 outcomes; wrong once in 10**7 runs."""
    log, domain = [(0,), (0, 0), (0, 0)], log_domain(1, 2)
    parameters, releases = {"threshold": 2, "budget": "uniform"}, 2_000
    sealed, scale = sealed_log(log, domain), 2.0
    seen = Counter(
        _outcome(measure_log(PrefixTree(), sealed, "1", parameters, sampler)[0])
        for sampler in itertools.repeat(OsVectorSampler(), releases)
    )
    truth = beginnings(log, domain)
    law = {}
    for first in _subsets([(0,), (1,)]):
        probability = _probability(first, [(0,), (1,)], truth, scale)
        below = [(0, 0), (0, 1)] if (0,) in first else []
        for second in _subsets(below):
            law[first | second] = probability * _probability(
                second, below, truth, scale
            )
    assert len(law) == 10
    assert sum(law.values()) == pytest.approx(1)
    assert set(seen) <= set(law)
    expected = np.array(list(law.values())) * releases
    found = np.array([seen[outcome] for outcome in law])
    assert expected.min() > 7
    assert stats.chisquare(found, expected).pvalue > 1e-7


def _subsets(paths):
    sizes = range(len(paths) + 1)
    sets = itertools.chain.from_iterable(
        itertools.combinations(paths, n) for n in sizes
    )
    return [frozenset(some) for some in sets]


def _probability(kept, paths, truth, scale):
    probability = 1.0
    for path in paths:
        passes = 1 - _below(2 - truth[path], scale)
        probability *= passes if path in kept else 1 - passes
    return probability


def _below(edge, scale):
    a = math.exp(-1 / scale)
    return a ** (1 - edge) / (1 + a) if edge <= 0 else 1 - a**edge / (1 + a)


def test_a_model_is_rebuilt_from_its_facts_and_tables():
    log, domain = random_log(800, 4, 9), log_domain(4, 6)
    model, _ = measure_log(PrefixTree(), sealed_log(log, domain), "2")
    facts = json.loads(json.dumps(model.facts()))
    again = MODELS[model.kind](domain, facts, model.tables())
    assert again.facts() == model.facts()
    runs = [(0,), (1, 2), (3, 3, 3)]
    assert again.occurrences(runs) == model.occurrences(runs)
    assert (again.paths().counts == model.paths().counts).all()


def test_a_split_has_a_tree_a_value_at_the_price_of_one():
    one, other = random_log(400, 3, 5, seed=3), random_log(100, 3, 5, seed=4)
    domain = log_domain(3, 5, groups=3)
    groups = [0] * len(one) + [2] * len(other)
    sealed = sealed_log([*one, *other], domain, groups)
    model, _ = measure_log(
        PrefixTree(), sealed, "4", {"threshold": 1}, ZeroVectorSampler()
    )
    own = drawn_paths(model)
    for group, log in ((0, one), (2, other)):
        for path, count in beginnings(log, domain).items():
            assert own[group, path] == count
    tree = model.paths()
    roots = tree.parents < 0
    assert tree.groups[roots].tolist() == [0, 1, 2]
    assert tree.counts[roots] == pytest.approx([400, 0, 100], abs=2)


def test_large_alphabets_do_not_let_empty_children_multiply():
    for alphabet in (2, 17, 300, 10_000):
        for scale in (1.0, 50.0):
            least = threshold(log_domain(alphabet, 3), scale, {})
            a = math.exp(-1 / scale)
            assert (alphabet + 1) * a**least / (1 + a) <= 0.6
            assert least >= 2 * math.sqrt(2) * scale


def test_levels_deserve_less_where_sequences_end():
    log, domain = random_log(2_000, 3, 3), log_domain(3, 9)
    ends, _ = measure_log(PrefixTree(), sealed_log(log, domain), "3")
    scales = [level.scale for level in ends.drawn.levels]
    assert scales[2] < scales[1]
    log = random_log(2_000, 2, 9, shortest=9)
    goes_on, _ = measure_log(PrefixTree(), sealed_log(log, log_domain(2, 9)), "30")
    assert going_on(goes_on.drawn.levels[:2]) > going_on(ends.drawn.levels[:2])


def test_a_level_that_is_predicted_well_gets_less():
    """Every sequence repeats its first symbol: the third level is no news."""
    log = [(k % 3,) * 8 for k in range(3_000)]
    sealed = sealed_log(log, log_domain(3, 8))
    scales = []
    for predictor in ("none", "markov"):
        parameters = {"predictor": predictor}
        model, meter = measure_log(PrefixTree(), sealed, "4", parameters)
        assert not meter._left
        scales.append([level.scale for level in model.drawn.levels])
        spent = sum(1 / scale for scale in scales[-1])
        assert spent == pytest.approx(0.95 * 4, rel=1e-6)
    assert scales[1][2] > 1.05 * scales[0][2]
    assert scales[1][-1] < scales[0][-1]


def test_a_log_of_nobody_is_published_like_any_other():
    for budget in BUDGETS:
        model, _ = measure_log(
            PrefixTree(),
            sealed_log([], log_domain(3, 4)),
            "1",
            {"budget": budget},
            ZeroVectorSampler(),
        )
        assert model.paths().counts.tolist() == pytest.approx([0, 0], abs=1e-3)
        assert model.occurrences([(0, 1)])[0].value == pytest.approx(0, abs=1e-3)


def test_domains_and_parameters_off_the_range_are_refused():
    strategy, domain = STRATEGIES["prefix_tree"], log_domain(3, 4)
    for parameters, epsilon in [
        ({"height": 5}, "1"),
        ({"height": 0}, "1"),
        ({"budget": "even"}, "1"),
        ({"budget": 1}, "1"),
        ({"threshold": 0}, "1"),
        ({"levels": 3}, "1"),
        ({"predictor": "oracle"}, "1"),
        ({"predictor": "markov", "budget": "uniform"}, "1"),
        ({"lengths_share": "0.5", "symbols_share": "0.5"}, "1"),
        ({"symbols_share": "0"}, "1"),
        ({}, "0.000000001"),
        ({"budget": "uniform"}, "0.000000003"),
    ]:
        with pytest.raises(ReleaseRefusedError):
            strategy.parts(domain, Loss.parse(epsilon), parameters)


def test_what_is_expected_follows_from_public_facts():
    told = PrefixTree().expectation(log_domain(17, 12), Loss.parse("1"), {})
    assert told.cell_rmse == pytest.approx(12 / 0.95 * math.sqrt(2), rel=0.01)
    assert "fewer than about 36 units" in told.words


@pytest.mark.long
@pytest.mark.statistical
def test_intervals_of_nodes_and_of_random_runs_hold_what_they_say():
    log, domain = random_log(20_000, 5, 14), log_domain(5, 8)
    sealed, truth = sealed_log(log, domain), beginnings(log, domain)
    dice = np.random.default_rng(1)
    runs = [tuple(dice.integers(0, 5, dice.integers(1, 5)).tolist()) for _ in range(60)]
    first = [own[:8] for own in log]
    exact = np.array([occurrences_of(run, first) for run in runs])
    nodes, told = [], []
    for seed in range(6):
        model, _ = measure_log(PrefixTree(), sealed, "1", {}, SeededSampler(seed))
        tree = model.paths()
        for node, (_, path) in enumerate(paths_of(tree)):
            if path and path[-1] != domain.rest:
                width = 2.12 * math.sqrt(tree.variances[node])
                nodes.append(abs(tree.counts[node] - truth[path]) <= width)
        answers = zip(model.occurrences(runs), exact, strict=True)
        told.extend(abs(e.value - count) <= e.half_width for e, count in answers)
    assert len(nodes) > 1_000
    assert np.mean(nodes) > 0.93
    assert np.mean(told) > 0.93


def test_an_empty_run_is_refused():
    model, _ = measure_log(PrefixTree(), sealed_log([(0,)], log_domain(2, 2)), "1")
    with pytest.raises(ValueError, match="at least one symbol"):
        model.occurrences([()])
