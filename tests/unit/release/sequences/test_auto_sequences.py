"""What ``auto`` picks for sequences, what it pays, and what it publishes."""

import pytest

from privacy.losses import Loss
from release.errors import ReleaseRefusedError
from release.sequences.models.registry import MODELS
from release.sequences.strategies.auto import MIDDLE, SHORT, pick, picks
from release.sequences.strategies.registry import STRATEGIES
from tests.sealed_logs import publish, sealed_sequences, sequence_domain

AUTO = STRATEGIES["auto"]
LONG = MIDDLE + 1
WARD = [[0, 1, 2, 0, 1], [0, 1], [2] * 11, [1], [0, 1, 2, 0, 1, 1, 1]] * 80


@pytest.mark.parametrize("text", ["0.01", "0.7", "1"])
def test_the_parts_sum_to_exactly_the_loss(text):
    loss = Loss.parse(text)
    parts = AUTO.parts(sequence_domain(3, LONG), loss, {})
    assert [part.name for part in parts] == ["total", "rest"]
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon


def test_short_sequences_always_get_a_prefix_tree():
    assert picks(sequence_domain(3, SHORT)) == ("prefix_tree",)
    assert pick(sequence_domain(3, SHORT), 1e9) == "prefix_tree"


def test_long_sequences_always_get_n_grams():
    assert picks(sequence_domain(3, LONG)) == ("ngram",)
    assert pick(sequence_domain(3, LONG), 0) == "ngram"


def test_between_them_the_noisy_load_decides():
    domain = sequence_domain(3, MIDDLE)
    assert pick(domain, 0) == picks(domain)[0] == "ngram"
    assert pick(domain, 1e9) == picks(domain)[-1] == "prefix_tree"


@pytest.mark.parametrize(
    ("length", "epsilon"),
    [(SHORT, "5"), (MIDDLE, "5"), (MIDDLE, "900"), (LONG, "5")],
)
def test_what_was_picked_is_published_and_rebuilt(length, epsilon):
    sealed = sealed_sequences(WARD, 3, length)
    model = publish(AUTO, sealed, epsilon, seed=3)
    facts = model.facts()
    assert model.kind == "picked"
    assert facts["strategy"] == facts["kind"] in picks(sealed.domain)
    again = MODELS[model.kind](sealed.domain, facts, model.tables())
    assert again.facts() == facts
    runs = [(0,), (0, 1), (2, 2, 2)]
    assert again.occurrences(runs) == model.occurrences(runs)
    assert again.paths().counts.tolist() == model.paths().counts.tolist()


def test_the_same_noisy_total_gives_the_same_pick():
    sealed = sealed_sequences(WARD, 3, MIDDLE)
    loss = Loss.parse("5")
    model = publish(AUTO, sealed, "5", seed=8)
    rest = AUTO.parts(sealed.domain, loss, {})[1].loss
    load = max(0, model.noisy_total) * float(rest.epsilon)
    assert model.strategy == pick(sealed.domain, load)


def test_parameters_that_auto_does_not_have_are_refused():
    with pytest.raises(ReleaseRefusedError):
        AUTO.parts(sequence_domain(3, LONG), Loss.parse("1"), {"cut": 3})


def test_what_is_foretold_names_both_where_the_total_decides():
    words = AUTO.expectation(sequence_domain(3, MIDDLE), Loss.parse("1"), {}).words
    assert all(name in words for name in picks(sequence_domain(3, MIDDLE)))
    short = AUTO.expectation(sequence_domain(3, SHORT), Loss.parse("1"), {})
    assert short.words
