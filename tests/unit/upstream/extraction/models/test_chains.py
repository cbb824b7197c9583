"""Chains of labels are evaluated as they are defined, whatever the arrays do."""

from itertools import pairwise, product

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.data.small_notes import small_notes
from upstream.extraction.features.feature_set import (
    FeatureChoices,
    attribute_lists,
    document_features,
)
from upstream.extraction.features.phrases import dictionary_of
from upstream.extraction.models.chains import scoring
from upstream.extraction.models.chains.crf import CrfChoices, CrfTrainer
from upstream.extraction.models.chains.inference import marginals
from upstream.extraction.models.chains.linear import LinearChoices, LinearTrainer
from upstream.extraction.models.chains.scoring import LabelScores
from upstream.extraction.models.chains.tagging import (
    BATCH_TOKENS,
    ChainTagger,
    batches,
    valid_transitions,
)
from upstream.extraction.models.chains.weights import ChainWeights
from upstream.extraction.text.labels import labelling, labels_of
from upstream.extraction.text.tokens import tokenize

LABELS = labels_of(["DATE", "NAME"])
CITIES = [dictionary_of("city", ["Atlanta", "New York"])]


def by_definition(scores, transitions):
    """Return each label's probability by adding up all ways to label a text."""
    tokens, labels = scores.shape
    found = np.zeros((tokens, labels))
    for way in product(range(labels), repeat=tokens):
        total = sum(scores[at, label] for at, label in enumerate(way))
        total += sum(transitions[a, b] for a, b in pairwise(way))
        for at, label in enumerate(way):
            found[at, label] += np.exp(total)
    return found / found.sum(axis=1, keepdims=True)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_probabilities_are_those_of_all_ways_to_label_a_text(lengths, seed):
    draws = np.random.default_rng(seed)
    transitions = draws.normal(size=(3, 3)).astype(np.float32) * 3
    transitions[0, 1] = -np.inf
    texts = [draws.normal(size=(n, 3)).astype(np.float32) * 5 for n in lengths]
    for scores, found in zip(texts, marginals(texts, transitions), strict=True):
        assert found.shape == scores.shape
        if len(scores):
            expected = by_definition(scores.astype(float), transitions.astype(float))
            np.testing.assert_allclose(found, expected, atol=1e-6)


def test_long_texts_neither_underflow_nor_overflow():
    scores = np.full((20_000, 2), -80.0, dtype=np.float32)
    scores[::2, 0] = 80
    (found,) = marginals([scores], np.zeros((2, 2), dtype=np.float32))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[0], [1, 0], atol=1e-12)
    np.testing.assert_allclose(found[1], [0.5, 0.5])


@pytest.mark.parametrize("shift", [0.0, 2_000.0, -2_000.0])
def test_large_transitions_are_as_good_as_small_ones(shift):
    scores = np.array([[0, 1], [2, 0]], dtype=np.float32)
    chain = np.array([[0, 1], [-np.inf, 2]], dtype=np.float32)
    (found,) = marginals([scores], chain + np.float32(shift))
    (expected,) = marginals([scores], chain)
    assert found.sum(axis=1) == pytest.approx(1)
    assert found == pytest.approx(expected)


def test_transitions_that_forbid_everything_are_no_error():
    forbidden = np.full((2, 2), -np.inf, dtype=np.float32)
    (found,) = marginals([np.zeros((2, 2), dtype=np.float32)], forbidden)
    assert np.isfinite(found).all()


def random_weights(names, seed=1):
    draws = np.random.default_rng(seed)
    size = len(LABELS)
    states = draws.normal(size=(len(names) + 1, size)).astype(np.float32)
    states[-1] = 0
    return ChainWeights(
        LABELS,
        tuple(names),
        states,
        np.zeros((size, size), dtype=np.float32),
        draws.normal(size=size).astype(np.float32),
    )


TEXTS = (
    "",
    "a",
    "a b",
    "Name: Ann Lee.\nSeen 6/22/01 in New York, | 56 yo. Ann again",
    "mail a.b@c.org 078-05-1120 <a> < b >",
)


@pytest.mark.parametrize("window", [1, 4])
@pytest.mark.parametrize("most", [3, 20_000])
@pytest.mark.parametrize("batch", [(0,), (1,), (3,), (0, 3, 1, 0, 2, 4, 3)], ids=str)
def test_scores_are_the_sums_over_the_attributes_of_each_token(
    batch, most, window, monkeypatch
):
    monkeypatch.setattr(scoring, "_MOST_WORDS", most)  # it forgets all but a few
    choices = FeatureChoices(window=window)
    documents = [
        document_features(tokenize(TEXTS[at]), choices, CITIES) for at in batch
    ]
    rows = [attribute_lists(each, choices) for each in documents]
    said = {name for each in rows for row in each for name in row}
    known = sorted(name for name in said if len(name) % 3)
    weights = random_weights(known)
    scores = LabelScores(weights, choices)
    for _ in range(2):  # the second time from what is remembered
        found = scores.of(documents)
        assert [each.shape for each in found] == [(len(r), len(LABELS)) for r in rows]
        for of_document, its_rows in zip(found, rows, strict=True):
            for at, row in enumerate(its_rows):
                expected = weights.intercept.astype(float)
                for name, value in row.items():
                    if name in known:
                        at_name = known.index(name)
                        expected = expected + value * weights.states[at_name]
                np.testing.assert_allclose(of_document[at], expected, atol=1e-4)


@pytest.fixture(scope="module")
def notes():
    return small_notes(40, seed=3)


def trained(trainer, notes, choices):
    for each in notes:
        tokens = tokenize(each.document.text)
        features = document_features(tokens, choices, CITIES)
        labels = labelling(tokens, each.spans).labels
        trainer.add(attribute_lists(features, choices), labels)
    return trainer.train()


def test_a_field_is_evaluated_as_crfsuite_does(notes, tmp_path):
    choices = FeatureChoices()
    tagger = pycrfsuite.Trainer(verbose=False)
    tagger.set_params({"max_iterations": 30, "c1": 0.1, "c2": 0.1})
    for each in notes:
        tokens = tokenize(each.document.text)
        rows = attribute_lists(document_features(tokens, choices), choices)
        tagger.append(list(rows), list(labelling(tokens, each.spans).labels))
    tagger.train(str(tmp_path / "theirs"))
    theirs = pycrfsuite.Tagger()
    theirs.open(str(tmp_path / "theirs"))
    trainer = CrfTrainer(CrfChoices(iterations=30, l1=0.1, l2=0.1, least_count=1))
    for each in notes[::-1]:  # it trains on the last one first
        tokens = tokenize(each.document.text)
        rows = attribute_lists(document_features(tokens, choices), choices)
        trainer.add(rows, labelling(tokens, each.spans).labels)
    ours = trainer.train()
    scores = LabelScores(ours, choices)
    for each in notes[:10]:
        features = document_features(tokenize(each.document.text), choices)
        rows = list(attribute_lists(features, choices))
        theirs.set(rows)
        (found,) = marginals(scores.of([features]), ours.transitions)
        for column, label in enumerate(ours.labels):
            said = [theirs.marginal(label, at) for at in range(len(rows))]
            np.testing.assert_allclose(found[:, column], said, atol=0.02)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "trainer",
    [
        CrfTrainer(CrfChoices(iterations=30)),
        CrfTrainer(CrfChoices(algorithm="ap", iterations=10)),
        LinearTrainer(LinearChoices()),
        LinearTrainer(LinearChoices(algorithm="bayes")),
    ],
    ids=["lbfgs", "ap", "svm", "bayes"],
)
def test_every_way_of_training_learns_what_was_marked(trainer, notes):
    choices = FeatureChoices()
    weights = trained(trainer, notes, choices)
    assert weights.labels[0] == "O"
    tagger = ChainTagger(weights, choices, CITIES)
    right = total = 0
    fresh = small_notes(20, seed=4)
    joint = tagger.tag(each.document.text for each in fresh)
    for each, (features, likely) in zip(fresh, joint, strict=True):
        np.testing.assert_allclose(likely.sum(axis=1), 1, atol=1e-6)
        said = [weights.labels[at] for at in likely.argmax(axis=1)]
        true = labelling(features.tokens, each.spans).labels
        right += sum(a == b for a, b in zip(said, true, strict=True))
        total += len(true)
    assert right / total > 0.9


def test_a_span_goes_on_from_nothing_in_no_chain():
    valid = valid_transitions(random_weights([]))
    labels = list(LABELS)
    assert valid[labels.index("O"), labels.index("I-NAME")] == -np.inf
    assert valid[labels.index("B-DATE"), labels.index("I-NAME")] == -np.inf
    assert valid[labels.index("I-NAME"), labels.index("I-NAME")] == 0


def test_a_gold_standard_of_nothing_trains_a_classifier_that_finds_nothing():
    trainer = LinearTrainer(LinearChoices())
    trainer.add([{"a": 1.0}, {"b": 1.0}], ["O", "O"])
    assert trainer.train().labels == ("O",)


def test_batches_hold_a_bounded_number_of_tokens(monkeypatch):
    documents = [document_features(tokenize("a " * n), BARE) for n in (3, 4, 9, 1, 1)]
    monkeypatch.setattr("upstream.extraction.models.chains.tagging.BATCH_TOKENS", 8)
    sizes = [[len(each.tokens) for each in batch] for batch in batches(documents)]
    assert sizes == [[3, 4], [9], [1, 1]]
    assert BATCH_TOKENS > 0


BARE = FeatureChoices(layout=False, segments=False, forms=False, pairs=False)
