"""Counts, figures, and whether figures differ by more than chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.data.small_notes import small_notes
from upstream.extraction.judging.folds import cross_validate, folds_of
from upstream.extraction.measures.comparison import compare, paired_t_test
from upstream.extraction.measures.counts import Counts, compare_document, total
from upstream.extraction.measures.report import judge
from upstream.extraction.models.chains.crf import CrfChoices
from upstream.extraction.models.model import ModelSpec
from upstream.extraction.models.training import GoldStandard
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import AnnotatedDocument, Span


def test_f1_of_hides_naive_bayes_is_not_what_the_table_prints():
    """Table 4.7 prints .6802 and .5754 for recalls of .5223 and .4053."""
    assert round(2 * 1 * 0.5223 / (1 + 0.5223), 4) == 0.6862
    age = Counts(right=5223, false=0, missed=4777)
    name = Counts(right=4053, false=0, missed=5947)
    assert (round(age.f1, 4), round(name.f1, 4)) == (0.6862, 0.5768)


def test_nothing_found_where_nothing_is_is_perfect():
    nothing = compare_document((), ())
    assert nothing.is_clean
    assert (nothing.characters.f1, nothing.untyped.recall) == (1.0, 1.0)


def test_a_document_is_compared_in_every_way():
    gold = [Span(0, 7, "NAME"), Span(10, 14, "DATE"), Span(20, 22, "AGE")]
    found = [Span(0, 3, "NAME"), Span(10, 14, "AGE"), Span(30, 31, "NAME")]
    tokens = [(0, 3), (4, 7), (10, 14), (20, 22), (30, 31)]
    counts = compare_document(gold, found, tokens)
    assert total(counts.strict.values()) == Counts(0, 3, 3)
    assert counts.untyped == Counts(1, 2, 2)
    assert counts.overlapping["NAME"] == Counts(1, 1, 0)
    assert counts.overlapping["AGE"] == Counts(0, 1, 1)
    assert counts.characters == Counts(right=7, false=1, missed=6)
    assert counts.tokens["NAME"] == Counts(1, 1, 1)
    assert counts.unseen == 1
    assert not counts.is_clean


@pytest.mark.long
@given(
    st.lists(
        st.builds(
            lambda a, n: Span(a, a + n, "X"), st.integers(0, 30), st.integers(1, 9)
        )
    )
)
def test_what_is_compared_with_itself_is_right(spans):
    counts = compare_document(spans, spans)
    assert total(counts.strict.values()).f1 == 1.0
    assert counts.is_clean
    assert counts.unseen == 0


def documents(*rights):
    return [
        compare_document(
            [Span(0, 1, "X")] * 1, [Span(0, 1, "X")] if right else [Span(5, 6, "X")]
        )
        for right in rights
    ]


def strict(each):
    return total(each.strict.values())


def test_a_model_does_not_differ_from_itself():
    same = documents(*[1, 0] * 20)
    told = compare(same, same, strict)
    assert told.probability == 1.0
    assert not told.is_significant


def test_a_model_that_is_right_everywhere_differs_from_one_that_is_not():
    told = compare(documents(*[1] * 40), documents(*[1, 0] * 20), strict)
    assert told.first > told.second
    assert told.is_significant
    assert told.probability < 0.001


def test_the_probability_is_that_of_all_exchanges():
    """Of 3 documents in which they differ, 2 of 8 exchanges differ as much."""
    told = compare(
        documents(1, 1, 1, 1), documents(1, 0, 0, 0), strict, exchanges=20_000
    )
    assert told.probability == pytest.approx(2 / 8, abs=0.02)  # 6.5 deviations


def test_only_the_same_documents_are_compared():
    with pytest.raises(ValueError, match="the same ones"):
        compare(documents(1), documents(1, 0), strict)


def test_a_paired_t_test_is_the_textbooks():
    first, second = [0.9, 0.8, 0.85, 0.95], [0.7, 0.75, 0.8, 0.85]
    differences = np.subtract(first, second)
    t = differences.mean() / (differences.std(ddof=1) / 2)
    assert t == pytest.approx(3.0, abs=0.2)
    assert paired_t_test(first, second) == pytest.approx(0.0577, abs=0.02)
    assert paired_t_test([0.5, 0.6], [0.5, 0.6]) == 1.0
    with pytest.raises(ValueError, match="two or more folds"):
        paired_t_test([0.5], [0.4])


def of_patients(*patients):
    return [
        AnnotatedDocument(
            TextDocument(str(at), "x", Place("x"), fields={"patient": patient}), ()
        )
        for at, patient in enumerate(patients)
    ]


def test_a_patients_documents_are_in_one_fold():
    given_ = of_patients(*"aabbccddee")
    folds = folds_of(given_, 3, by="patient")
    assert sorted(at for fold in folds for at in fold) == list(range(10))
    for fold in folds:
        patients = {given_[at].document.fields["patient"] for at in fold}
        assert len(fold) == 2 * len(patients)
    assert folds == folds_of(given_, 3, by="patient")


@pytest.mark.parametrize(("count", "by"), [(1, ""), (11, ""), (6, "patient"), (2, "x")])
def test_folds_that_cannot_be_made_are_refused(count, by):
    with pytest.raises(ValueError, match=r"folds|field"):
        folds_of(of_patients(*"aabbccddee"), count, by=by)


@pytest.mark.long
def test_each_fold_is_judged_by_a_model_of_the_others():
    notes = small_notes(30)
    gold = GoldStandard(notes)
    folds = folds_of(notes, 3)
    spec = ModelSpec(training=CrfChoices(algorithm="ap", iterations=3))
    judged = list(cross_validate(spec, gold, folds))
    assert [len(each.documents) for each in judged] == [10, 10, 10]
    assert all(each.strict().f1 > 0.7 for each in judged)


def test_a_report_has_figures_of_all_kinds_and_no_text():
    notes = small_notes(4)
    told = judge(notes, lambda texts: [() for _ in texts]).to_json()
    assert told["documents"] == 4
    assert told["documents_clean"] == 0
    assert told["strict"]["recall"] == 0
    assert told["spans_unseen"] == sum(len(each.spans) for each in notes)
    assert set(told["types"]) == {"DATE", "NAME"}
    assert not any(name in str(told) for name in ("Ann", "Lee", "note-"))
