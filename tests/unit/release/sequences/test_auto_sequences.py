"""What ``auto`` picks for sequences, what it pays, and what it publishes."""

import json

import numpy as np
import pytest

from privacy.losses import Loss
from release.errors import ReleaseRefusedError
from release.sequences.bands import Bands
from release.sequences.models.registry import MODELS
from release.sequences.strategies.auto import MANY, PICKS, pick
from release.sequences.strategies.registry import STRATEGIES
from tests.sealed_logs import publish, sealed_sequences, sequence_domain

AUTO = STRATEGIES["auto"]
LONG = 17
WARD = [[0, 1, 2, 0, 1], [0, 1], [2] * 11, [1], [0, 1, 2, 0, 1, 1, 1]] * 80


@pytest.mark.parametrize("text", ["0.01", "0.7", "1"])
def test_the_parts_sum_to_exactly_the_loss(text):
    loss = Loss.parse(text)
    parts = AUTO.parts(sequence_domain(3, LONG), loss, {})
    assert [part.name for part in parts] == ["total", "rest"]
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon


def test_few_symbols_times_epsilon_get_a_tree_and_many_get_n_grams():
    assert pick(MANY * 0.999) == pick(0) == "prefix_tree"
    assert pick(MANY) == pick(1e12) == "ngram"


@pytest.mark.parametrize("splits", [1, 2])
@pytest.mark.parametrize(("epsilon", "strategy"), [("1", PICKS[0]), ("90", PICKS[1])])
def test_what_was_picked_is_published_and_rebuilt(epsilon, strategy, splits):
    groups = [number % splits for number in range(len(WARD))]
    sealed = sealed_sequences(WARD, 3, LONG, groups, splits)
    model = publish(AUTO, sealed, epsilon, seed=3)
    facts = json.loads(json.dumps(model.facts()))
    assert model.kind == "picked"
    assert facts["strategy"] == facts["kind"] == strategy
    again = MODELS[model.kind](sealed.domain, facts, model.tables())
    assert again.facts() == facts
    runs = [(0,), (0, 1), (2, 2, 2)]
    assert again.occurrences(runs) == model.occurrences(runs)
    assert again.paths().counts.tolist() == model.paths().counts.tolist()


@pytest.mark.parametrize("epsilon", ["2", "5", "20"])
def test_a_reader_can_repeat_the_choice(epsilon):
    sealed = sealed_sequences(WARD, 3, LONG)
    model = publish(AUTO, sealed, epsilon, seed=8)
    rest = AUTO.parts(sealed.domain, Loss.parse(epsilon), {})[1].loss
    counts = np.array([model.noisy_lengths])
    bands = Bands(LONG, counts, model.total_scale)
    load = float(bands.starts(1).sum()) * float(rest.epsilon)
    assert model.strategy == pick(load)
    assert model.noisy_total == counts.sum()


def test_long_sequences_have_many_symbols_where_short_ones_have_few():
    """As many units, another pick: lengths decide, and not the units alone."""
    short, long = ([[0] * n] * 400 for n in (1, 15))
    picked = [
        publish(AUTO, sealed_sequences(own, 3, LONG), "5").strategy
        for own in (short, long)
    ]
    assert picked == ["prefix_tree", "ngram"]


def test_parameters_that_auto_does_not_have_are_refused():
    with pytest.raises(ReleaseRefusedError):
        AUTO.parts(sequence_domain(3, LONG), Loss.parse("1"), {"cut": 3})


def test_what_is_foretold_names_both():
    words = AUTO.expectation(sequence_domain(3, LONG), Loss.parse("1"), {}).words
    assert all(name in words for name in PICKS)
