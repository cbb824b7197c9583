"""Models are trained, tuned, written and read; the same twice."""

import numpy as np
import pytest

from tests.support.data.small_notes import small_notes
from upstream.extraction.features.phrases import dictionary_of
from upstream.extraction.measures.report import judge
from upstream.extraction.models.chains.crf import CrfChoices
from upstream.extraction.models.chains.linear import LinearChoices
from upstream.extraction.models.model import ModelSpec, UnionFinder
from upstream.extraction.models.model_files import (
    ModelFileError,
    model_bytes,
    read_model,
)
from upstream.extraction.models.sampling import Window
from upstream.extraction.models.training import GoldStandard, train_model
from upstream.extraction.text.spans import AnnotatedDocument

QUICK = CrfChoices(algorithm="ap", iterations=5)
CITIES = (dictionary_of("city", ["Atlanta"]),)


@pytest.fixture(scope="module")
def gold():
    return GoldStandard(small_notes(40, seed=1), small_notes(20, seed=2), CITIES)


@pytest.fixture(scope="module")
def model(gold):
    return train_model("notes-1", ModelSpec(training=QUICK), gold)


def test_a_model_finds_what_it_learned_in_texts_that_it_has_not_seen(model):
    judged = judge(small_notes(30, seed=5), model.finder().find)
    assert judged.strict().f1 > 0.9
    assert judged.types == ("DATE", "NAME")


def test_the_same_gold_standard_makes_the_same_model_to_the_byte(gold, model):
    again = train_model("notes-1", ModelSpec(training=QUICK), gold)
    assert model_bytes(again) == model_bytes(model)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "spec",
    [
        ModelSpec(training=CrfChoices(iterations=20), rules="union"),
        ModelSpec(training=LinearChoices(), rules="none"),
        ModelSpec(training=LinearChoices(algorithm="bayes"), sampling=Window(near=3)),
    ],
    ids=["lbfgs", "svm", "bayes"],
)
def test_every_kind_of_model_is_trained_and_read_again(spec, gold):
    model = train_model("notes-2", spec, gold)
    back = read_model(model_bytes(model))
    fresh = [each.document.text for each in small_notes(10, seed=6)]
    assert list(back.finder().find(fresh)) == list(model.finder().find(fresh))
    assert judge(small_notes(20, seed=7), back.finder().find).strict().f1 > 0.8


def test_without_documents_to_tune_on_some_are_kept_aside_and_learned_afterwards():
    stages = []
    train = small_notes(30)
    spec = ModelSpec(training=QUICK)
    model = train_model(
        "a", spec, GoldStandard(train), lambda *step: stages.append(step)
    )
    assert stages.count(("tune", 0, 2)) == 1
    assert ("read features", 29, 30) in stages

    split = GoldStandard(train).split()
    aside = {each.document.id for each in split.tune}
    assert len(aside) == 6
    assert not aside & {each.document.id for each in split.train}
    before = train_model("a", spec, split)  # tuned on what it has not learned
    assert model.decision == before.decision
    assert model.weights.labels == before.weights.labels
    assert not np.array_equal(model.weights.transitions, before.weights.transitions)


def test_what_is_told_to_stop_stops_in_the_middle_of_training(gold):
    class StopError(Exception):
        pass

    def stop(stage, done, _total):
        if stage == "train" and done:
            raise StopError

    with pytest.raises(StopError):
        train_model("a", ModelSpec(training=QUICK), gold, stop)


def test_types_that_are_not_asked_for_are_not_learned(gold):
    spec = ModelSpec(training=QUICK, types=("DATE",))
    model = train_model("dates", spec, gold)
    assert {label.partition("-")[2] for label in model.weights.labels} == {"", "DATE"}


def test_a_gold_standard_without_spans_is_refused():
    empty = [AnnotatedDocument(each.document, ()) for each in small_notes(3)]
    with pytest.raises(ValueError, match="no span to learn"):
        train_model("a", ModelSpec(training=QUICK), GoldStandard(empty))


def test_a_gold_standard_of_one_document_is_enough_to_begin_with():
    model = train_model("a", ModelSpec(training=QUICK), GoldStandard(small_notes(1)))
    assert "B-NAME" in model.weights.labels


def test_a_union_finds_what_either_model_finds(gold, model):
    dates = train_model("dates", ModelSpec(training=QUICK, types=("DATE",)), gold)
    texts = [each.document.text for each in small_notes(5, seed=8)]
    both = list(UnionFinder([dates, model]).find(texts))
    for spans, ours in zip(both, model.finder().find(texts), strict=True):
        assert {(s.start, s.end) for s in ours} <= {(s.start, s.end) for s in spans}


def test_a_text_without_a_token_has_no_span(model):
    assert list(model.finder().find(["", " \n", "Ann Lee"]))[:2] == [(), ()]


def test_a_file_that_was_cut_or_altered_is_no_model(model):
    content = model_bytes(model)
    for wrong in (b"", content[:-40], b"PK" + content[2:50], b"\0" * 100):
        with pytest.raises(ModelFileError):
            read_model(wrong)


def test_a_model_file_holds_no_pickle(model, tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(model_bytes(model))
    with np.load(path, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)
