"""What ``auto`` picks for sequences, what it pays, and what it publishes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.sequences.estimation.bands import Bands, band_starts
from release.sequences.models.picked import Evidence
from release.sequences.models.registry import MODELS
from release.sequences.sealed.repeats import Bars
from release.sequences.strategies.auto import MOVES
from release.sequences.strategies.evidence import (
    LEAST_SHARED,
    MANY,
    MORE_LOST,
    PICKS,
    bars_for,
    pick,
)
from release.sequences.strategies.registry import STRATEGIES
from tests.statistical.sequence_logs import MadeLog
from tests.support.data.sealed_logs import publish, sealed_sequences, sequence_domain

AUTO = STRATEGIES["auto"]
TREE, GRAMS = PICKS
LONG = 17
WARD = [[0, 1, 2, 0, 1], [0, 1], [2] * 11, [1], [0, 1, 2, 0, 1, 1, 1]] * 80
DOMAIN = sequence_domain(6, 8)
REST = Loss.parse("1")
UNITS = 1_000


def evidence(both, apart, units=UNITS):
    """Return what says that all units have eight symbols."""
    bands = len(band_starts(DOMAIN.max_length))
    lengths = (*[0] * (bands - 1), units)
    return Evidence(lengths, 1.0, (both, apart), 1.0)


def sealed_ways(ways, units):
    """Seal a log whose units go so many ways, each as often, at keyed places."""
    rows = np.resize(ways, (units, ways.shape[1])).astype(np.int32)
    whole = np.full(units, ways.shape[1])
    alone = np.zeros(units, dtype=np.int64)
    return MadeLog(rows, whole, alone, 6, 1).sealed(ways.shape[1])


def drawn_ways(ways):
    return np.random.default_rng(5).integers(0, 6, (ways, 8))


@pytest.mark.parametrize("text", ["0.01", "0.7", "1"])
def test_the_parts_sum_to_exactly_the_loss(text):
    loss = Loss.parse(text)
    parts = AUTO.parts(sequence_domain(3, LONG), loss, {})
    assert [part.name for part in parts] == ["lengths", "repeats", "rest"]
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon


def test_few_units_times_epsilon_get_a_tree_and_many_get_n_grams():
    for units in (0, int(MANY) - 1):
        assert pick(DOMAIN, REST, evidence(0, 0, units)) == TREE
    for units in (int(MANY), 10**9):
        assert pick(DOMAIN, REST, evidence(0, 0, units)) == GRAMS


def test_a_tree_is_picked_where_beginnings_lose_little_more_than_runs():
    for runs in (0, 400, 900):
        most = MORE_LOST * (UNITS - runs)
        least = max(UNITS - most, LEAST_SHARED * UNITS)
        for beginnings, strategy in ((least + 1, TREE), (least - 1, GRAMS)):
            read = evidence(beginnings + runs, beginnings - runs)
            assert pick(DOMAIN, REST, read) == strategy


@pytest.mark.parametrize("splits", [1, 2])
@pytest.mark.parametrize(("epsilon", "strategy"), [("0.1", TREE), ("9", GRAMS)])
def test_what_was_picked_is_published_and_rebuilt(epsilon, strategy, splits):
    groups = [number % splits for number in range(len(WARD))]
    own = np.random.default_rng(1).integers(0, 3, (len(WARD), 9)).tolist()
    sealed = sealed_sequences(own, 3, LONG, groups, splits)
    model = publish(AUTO, sealed, epsilon, seed=3)
    facts = json.loads(json.dumps(model.facts()))
    assert model.kind == "picked"
    assert facts["strategy"] == facts["kind"] == strategy
    again = MODELS[model.kind](sealed.domain, facts, model.tables())
    assert again.facts() == facts
    runs = [(0,), (0, 1), (2, 2, 2)]
    assert again.occurrences(runs) == model.occurrences(runs)
    assert again.paths().counts.tolist() == model.paths().counts.tolist()


@pytest.mark.parametrize("epsilon", ["0.2", "0.6", "5", "60"])
def test_a_reader_can_repeat_the_choice(epsilon):
    sealed = sealed_sequences(WARD, 3, LONG)
    model = publish(AUTO, sealed, epsilon, seed=8)
    rest = AUTO.parts(sealed.domain, Loss.parse(epsilon), {})[-1].loss
    read = Evidence.rebuilt(json.loads(json.dumps(model.facts()))["evidence"])
    assert model.strategy == pick(sealed.domain, rest, read)


@pytest.mark.parametrize(("ways", "strategy"), [(15, TREE), (900, GRAMS)])
def test_a_tree_is_picked_where_units_go_few_ways(ways, strategy):
    sealed = sealed_ways(drawn_ways(ways), 1_800)
    assert publish(AUTO, sealed, "2", seed=1).strategy == strategy


def test_runs_that_come_again_and_again_get_n_grams():
    """Ways are hardly more, but a run stands at many places: one gram counts it."""
    turns = np.arange(24)[:, None] // 4 + np.arange(8) * (-1) ** np.arange(24)[:, None]
    sealed = sealed_ways(turns % 6, 1_800)
    assert publish(AUTO, sealed, "0.5", seed=1).strategy == GRAMS


def test_each_value_of_the_split_must_have_many_units():
    """As many units in ten groups are few in each."""
    units = 6_000
    picked = []
    for splits in (1, 10):
        groups = [number % splits for number in range(units)]
        sealed = sealed_sequences([[0]] * units, 3, LONG, groups, splits)
        picked.append(publish(AUTO, sealed, "0.2", seed=4).strategy)
    assert picked == [GRAMS, TREE]


@pytest.mark.parametrize("splits", [1, 2])
def test_one_unit_moves_what_is_shared_by_no_more_than_is_paid(splits):
    """Each unit of a log taken away in turn, at low bars and at high ones."""
    dice = np.random.default_rng(2)
    log = [dice.integers(0, 2, dice.integers(1, 7)).tolist() for _ in range(60)]
    groups = [number % splits for number in range(len(log))]
    moved = set()
    for beginning, run in ((0, 0), (1, 3), (3, 1), (4, 4)):
        bars = Bars(depth=3, beginning=beginning, size=2, run=run)
        whole = shared(log, groups, splits, bars)
        for left_out in range(len(log)):
            rest = [own for place, own in enumerate(log) if place != left_out]
            kept = [own for place, own in enumerate(groups) if place != left_out]
            less = shared(rest, kept, splits, bars)
            moved.add(int(np.abs(whole - less).sum()))
    assert moved == {0, MOVES}


def shared(log, groups, splits, bars):
    sealed = sealed_sequences(log, 2, 6, groups, splits)
    return sealed.repeats(bars).unseal()


def test_what_cells_hold_above_a_bar_is_counted_by_hand():
    log = [[0, 1, 2]] * 5 + [[0, 1, 0]] * 3 + [[2, 2, 2]] * 2 + [[1, 1]] * 9
    sealed = sealed_sequences(log, 3, 4)
    whole = Bars(depth=3, beginning=2, size=3, run=4)
    assert sealed.repeats(whole).unseal().tolist() == [3 + 1 + 1, 3 + 1 - 1]
    assert sealed.lengths(np.array([1, 3])).unseal().tolist() == [9, 10]


def test_a_beginning_is_longer_where_units_are_and_never_past_the_last_symbol():
    found = []
    for most, mean in ((3, 3), (8, 8), (30, 21)):
        firsts = band_starts(most)
        counts = np.zeros(len(firsts), dtype=np.int64)
        counts[np.searchsorted(firsts, mean, side="right") - 1] = UNITS
        bands = Bands(most, counts.reshape(1, -1), 1.0)
        bars = bars_for(sequence_domain(6, most), REST, bands)
        assert bars.size <= bars.depth
        assert min(bars.beginning, bars.run) >= 1
        found.append(bars.depth)
    assert found == [3, 5, 13]


def test_parameters_that_auto_does_not_have_are_refused():
    domain, loss = sequence_domain(3, LONG), Loss.parse("1")
    for parameters in ({"cut": 3}, {"lengths_share": 0.5, "repeats_share": 0.5}):
        with pytest.raises(ReleaseRefusedError):
            AUTO.parts(domain, loss, parameters)


def test_what_is_expected_names_both():
    words = AUTO.expectation(sequence_domain(3, LONG), Loss.parse("1"), {}).words
    assert all(name in words for name in PICKS)


@pytest.mark.parametrize(
    "earlier", [{"noisy_total": 7, "total_scale": 2.0}, {"noisy_lengths": [3, 4]}]
)
def test_what_earlier_rules_read_is_still_told(earlier):
    model = publish(AUTO, sealed_sequences(WARD, 3, LONG), "1", seed=3)
    stored = replace(model, evidence=None, earlier=earlier)
    facts = json.loads(json.dumps(stored.facts()))
    again = MODELS[model.kind](model.domain, facts, model.tables())
    assert again.facts() == facts
    assert again.earlier == earlier
