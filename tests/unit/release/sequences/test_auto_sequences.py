"""What ``auto`` picks for sequences, what it pays, and what it publishes."""

import json

import pytest

from privacy.losses import Loss
from release.errors import ReleaseRefusedError
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


def test_few_units_times_epsilon_get_a_tree_and_many_get_n_grams():
    assert pick(MANY * 0.999) == pick(0) == "prefix_tree"
    assert pick(MANY) == pick(1e12) == "ngram"


@pytest.mark.parametrize("splits", [1, 2])
@pytest.mark.parametrize(("epsilon", "strategy"), [("0.1", PICKS[0]), ("9", PICKS[1])])
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


@pytest.mark.parametrize("epsilon", ["0.2", "0.6", "5"])
def test_a_reader_can_repeat_the_choice(epsilon):
    sealed = sealed_sequences(WARD, 3, LONG)
    model = publish(AUTO, sealed, epsilon, seed=8)
    rest = AUTO.parts(sealed.domain, Loss.parse(epsilon), {})[1].loss
    assert model.strategy == pick(model.noisy_total * float(rest.epsilon))


def test_each_value_of_the_split_must_have_many_units():
    """As many units in five groups are few in each."""
    units = 3_000
    picked = []
    for splits in (1, 5):
        groups = [number % splits for number in range(units)]
        sealed = sealed_sequences([[0]] * units, 3, LONG, groups, splits)
        picked.append(publish(AUTO, sealed, "0.2", seed=4).strategy)
    assert picked == ["ngram", "prefix_tree"]


def test_parameters_that_auto_does_not_have_are_refused():
    with pytest.raises(ReleaseRefusedError):
        AUTO.parts(sequence_domain(3, LONG), Loss.parse("1"), {"cut": 3})


def test_what_is_foretold_names_both():
    words = AUTO.expectation(sequence_domain(3, LONG), Loss.parse("1"), {}).words
    assert all(name in words for name in PICKS)
