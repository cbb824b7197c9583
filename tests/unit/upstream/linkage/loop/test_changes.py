"""What one round has that the one before had not."""

from upstream.extraction.text.spans import Span
from upstream.linkage.loop.changes import (
    changed_patients,
    linked_documents,
    new_spans,
    new_values,
)


def test_spans_are_new_by_their_place_and_type():
    before = {"a": [Span(0, 3, "NAME")]}
    now = {
        "a": [Span(0, 3, "DATE"), Span(0, 3, "NAME", 0.1)],
        "b": [Span(0, 3, "NAME")],
    }
    assert new_spans(before, now) == 2
    assert new_spans(now, before) == 0


def test_values_are_new_by_document_and_field():
    before = {"a": {"last": ["Lee"]}}
    now = {
        "a": {"last": ["Lee", "Kim"], "given": ["Lee"]},
        "b": {"last": ["Lee", "Lee"]},
    }
    assert new_values(before, now) == 3
    assert new_values(now, now) == 0


def test_patients_changed_whose_records_are_others():
    before = {"a": 1, "b": 1, "c": 2}
    assert changed_patients(before, {"a": 1, "b": 2, "c": 2}) == 2
    assert changed_patients({}, before) == 2
    assert changed_patients(before, {**before, "d": 2}) == 1


def test_a_document_alone_with_its_patient_is_not_linked():
    patients = {"note 1": 1, "row 1": 1, "note 2": 2, "note 3": 3, "note 4": 3}
    notes = ["note 1", "note 2", "note 3", "note 4", "note 5"]
    assert linked_documents(patients, notes) == {"note 1", "note 3", "note 4"}
