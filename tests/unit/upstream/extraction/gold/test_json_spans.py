"""Gold standards in JSON: shapes, round trips, and what is refused."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from upstream.extraction.gold.json_spans import (
    read_json_spans,
    write_json_spans,
    write_presidio,
)
from upstream.extraction.gold.outcomes import Refused
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import AnnotatedDocument, Span


def document(text, *spans, name="d", **fields):
    return AnnotatedDocument(TextDocument(name, text, Place("x"), (), fields), spans)


def read(tmp_path, content):
    path = tmp_path / "gold.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_json_spans(path))


def told(found):
    return [(each.document.id, each.document.text, each.spans) for each in found]


START = '{"start": 1, "end": 2, "label": "A"'
SPANS = (Span(0, 2, "A"), Span(3, 5, "B"))


@pytest.mark.parametrize(
    "item",
    [
        {"id": "d", "text": "AB cd", "spans": [[3, 5, "B"], [0, 2, "A"]]},
        {
            "id": "d",
            "text": "AB cd",
            "spans": [
                {"start": 0, "end": 2, "label": "A"},
                {"start": 3, "end": 5, "label": "B"},
            ],
        },
        {
            "full_text": "AB cd",
            "metadata": {"id": "d"},
            "spans": [
                {
                    "entity_type": "A",
                    "entity_value": "AB",
                    "start_position": 0,
                    "end_position": 2,
                },
                {"entity_type": "B", "start_position": 3, "end_position": 5},
            ],
        },
    ],
)
def test_three_shapes_are_read_in_lines_and_in_arrays(tmp_path, item):
    expected = [("d", "AB cd", SPANS)]
    assert told(read(tmp_path, json.dumps(item) + "\n\n")) == expected
    assert told(read(tmp_path, "\ufeff" + json.dumps([item], indent=1))) == expected


def test_documents_without_ids_are_named_by_their_number(tmp_path):
    found = read(
        tmp_path,
        '[{"full_text": "a", "spans": []}, {"id": 7, "text": "b", "spans": []}]',
    )
    assert [each.document.id for each in found] == ["gold.jsonl#1", "7"]


def test_fields_are_texts_and_whole_numbers(tmp_path):
    fields = {"patient": 12, "ward": "north", "is_old": True, "more": [1], "none": None}
    item = {"id": "d", "text": "a", "spans": [], "fields": fields}
    (found,) = read(tmp_path, json.dumps(item))
    assert found.document.fields == {"patient": "12", "ward": "north"}


@pytest.mark.parametrize(
    ("bad", "offset", "words"),
    [
        ('{"id": "b", "text": "abc", "spans": [[0, 4, "A"]]}', 0, "0 to 4"),
        ('{"id": "b", "text": "abc", "spans": [[2, 2, "A"]]}', 2, "2 to 2"),
        ('{"id": "b", "text": "abc", "spans": [[-1, 2, "A"]]}', -1, "-1 to 2"),
        ('{"id": "b", "text": "abc", "spans": [[true, 2, "A"]]}', None, "whole number"),
        ('{"id": "b", "text": "abc", "spans": [[0, 1.5, "A"]]}', None, "whole number"),
        ('{"id": "b", "text": "abc", "spans": [[0, 1, 7]]}', 0, "label"),
        ('{"id": "b", "text": "abc", "spans": [[0, 1, " "]]}', 0, "label"),
        ('{"id": "b", "text": "abc", "spans": [[0, 1]]}', None, "a span is"),
        ('{"id": "b", "text": "abc", "spans": ["x"]}', None, "a span is"),
        ('{"id": "b", "text": "abc"}', None, "no list of spans"),
        ('{"id": "b", "text": 7, "spans": []}', None, "no object with text"),
        ('{"id": "b", "text": "a\\ud800", "spans": []}', 1, "halves"),
        (
            '{"id": "b", "text": "abc", "spans": ['
            + START
            + ', "entity_value": "x"}]}',
            1,
            "value",
        ),
        (
            '{"id": "b", "text": "abc", "spans": [' + START + ', "score": 2}]}',
            1,
            "score",
        ),
        ('{"id": "a", "text": "again", "spans": []}', None, "has its id"),
        ("[7]", None, "no object"),
        ("{nonsense", None, "no JSON"),
        ("[" * 100_000, None, "no JSON"),
        (b'{"id": "\xff"}', None, "not UTF-8"),
    ],
)
def test_a_bad_document_is_refused_by_its_place_and_the_others_are_read(
    tmp_path, bad, offset, words
):
    around = [f'{{"id": "{name}", "text": "x", "spans": []}}' for name in "ac"]
    middle = bad if isinstance(bad, bytes) else bad.encode()
    found = read(tmp_path, b"\n".join([around[0].encode(), middle, around[1].encode()]))
    first, refused, last = found
    assert (first.document.id, last.document.id) == ("a", "c")
    assert isinstance(refused, Refused)
    assert (refused.file, refused.line, refused.offset) == ("gold.jsonl", 2, offset)
    assert words in str(refused)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    (refused,) = read_json_spans(tmp_path / "none")
    assert "cannot be read" in refused.sentence


LETTERS = "aB \r\n\t<>&;\\\"'é漢😀\u0301\u2028\ufeff"


@st.composite
def documents(draw, labels="AB", overlapping=True):
    text = draw(st.text(st.sampled_from(LETTERS), min_size=1, max_size=30))
    size = len(text)
    starts = draw(st.lists(st.integers(0, size - 1), max_size=6))
    spans = []
    reached = 0
    for start in sorted(starts):
        end = draw(st.integers(start + 1, size))
        if overlapping or start >= reached:
            spans.append(Span(start, end, draw(st.sampled_from(labels))))
            reached = end
    return document(
        text, *sorted(spans), name=draw(st.sampled_from(["d", "a/b", "é 1"]))
    )


QUICK = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@QUICK
@given(annotated=documents(labels=["A", "B c", "\u00c9"]))
def test_what_is_written_as_json_is_read_again(tmp_path, annotated):
    for write in (write_json_spans, write_presidio):
        assert write([annotated], tmp_path / "x") == ()
        expected = told([annotated])
        assert told(read_json_spans(tmp_path / "x")) == expected


def test_fields_scores_and_sources_are_written_too(tmp_path):
    span = Span(0, 1, "A", 0.25, "rules")
    written = [document("ab", span, patient="7"), document("", name="e")]
    assert write_json_spans(written, tmp_path / "x") == ()
    first, empty = read_json_spans(tmp_path / "x")
    assert first.spans == (span,)
    assert first.document.fields == {"patient": "7"}
    assert empty.document.text == ""
    (refused,) = write_presidio(written[:1], tmp_path / "y")
    assert refused.document == "d"
    assert list(read_json_spans(tmp_path / "y")) == []


def test_a_document_that_is_not_sound_is_not_written(tmp_path):
    bad = [document("ab", Span(0, 3, "A")), document("\ud800")]
    refused = write_json_spans([*bad, document("c")], tmp_path / "x")
    assert [each.offset for each in refused] == [0, 0]
    assert [each.document.text for each in read_json_spans(tmp_path / "x")] == ["c"]


def test_a_document_that_would_not_be_read_again_is_not_written(tmp_path):
    documents = [document("a"), document("b"), document("c", name="")]
    for write in (write_json_spans, write_presidio):
        refused = write(documents, tmp_path / "x")
        assert [each.document for each in refused] == ["d", ""]
        assert [each.document.text for each in read_json_spans(tmp_path / "x")] == ["a"]


def test_public_gold_standards_are_read_whole(test_data):
    names = ["meddocan/dev.jsonl", "presidio_synth/synth_dataset_v2.json"]
    for name, count in zip(names, (250, 1500), strict=True):
        path = test_data / name
        if not path.exists():
            pytest.skip(f"no {name}")
        found = list(read_json_spans(path))
        assert len(found) == count
        assert not any(isinstance(each, Refused) for each in found)
