"""Gold standards in brat's standoff format."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from upstream.extraction.gold.brat import read_brat, write_brat
from upstream.extraction.gold.json_spans import read_json_spans
from upstream.extraction.gold.outcomes import GoldDocument, Refused
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import AnnotatedDocument, Span


def put(folder, name, text, ann):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for suffix, content in ((".txt", text), (".ann", ann)):
        if content is not None:
            raw = content if isinstance(content, bytes) else content.encode()
            path.with_name(path.name + suffix).write_bytes(raw)


def document(text, *spans, name="d"):
    return AnnotatedDocument(TextDocument(name, text, Place("x")), spans)


ANN = (
    "T1\tNAME 5 11\tM\u00fcller\n#1\tAnnotatorNotes T1\tsure\nA1\tNegation T1\n"
    "R1\tWith Arg1:T1 Arg2:T2\n*\tEquiv T1 T2\nE1\tV:T1\n\nT2\tAGE 12 14\n"
)


def test_spans_are_read_and_notes_are_counted(tmp_path):
    put(tmp_path, "a/b", "Herr M\u00fcller 56", ANN)
    (found,) = read_brat(tmp_path)
    assert found.document.id == "a/b"
    assert found.spans == (Span(5, 11, "NAME"), Span(12, 14, "AGE"))
    assert found.ignored == 5
    assert found.document.original_range(5, 11) == (5, 12)


@pytest.mark.parametrize("start", [8, 7])
def test_offsets_of_crlf_files_count_either_way(tmp_path, start):
    ann = f"T1\tNAME {start} {start + 4}\tAnna\r\nT2\tX 0 3\tone\r\n"
    put(tmp_path, "d", "one\r\nto Anna\r\n", ann)
    (found,) = read_brat(tmp_path)
    assert isinstance(found, GoldDocument)
    assert found.spans == (Span(0, 3, "X"), Span(8, 12, "NAME"))


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("start", [7, 8, 9])
def test_offsets_of_files_with_a_mark_count_it_or_do_not(tmp_path, start, end):
    ann = f"T1\tNAME {start} {start + 4}\tAnna\n"
    put(tmp_path, "d", f"\ufeffone{end}to Anna{end}", ann)
    (found,) = read_brat(tmp_path)
    if isinstance(found, GoldDocument):
        (span,) = found.spans
        assert found.document.text[span.start : span.end] == "Anna"
    assert isinstance(found, Refused) == (end == "\n" and start == 9)


def test_offsets_of_a_file_without_a_mark_do_not_count_one(tmp_path):
    put(tmp_path, "d", "to Anna", "T1\tNAME 4 8\tAnna\n")
    (found,) = read_brat(tmp_path)
    assert isinstance(found, Refused)


def test_an_interrupted_span_is_refused_or_split(tmp_path):
    put(tmp_path, "d", "Anna, of Ulm", "T1\tNAME 0 4;9 12\tAnna Ulm\n")
    (refused,) = read_brat(tmp_path)
    assert (refused.line, refused.offset) == (1, 0)
    assert "interrupted" in refused.sentence
    (found,) = read_brat(tmp_path, split=True)
    assert found.spans == (Span(0, 4, "NAME"), Span(9, 12, "NAME"))


@pytest.mark.parametrize(
    ("text", "ann", "place", "words"),
    [
        ("abc", "T1\tX 0 2\tab\nT2\tX 1 9\tb\n", (2, 1), "1 to 9 in a text of 3"),
        ("abc", "T1\tX 2 2\t\n", (1, 2), "2 to 2"),
        ("abc", "T1\tX 0 2\tbc\n", (1, 0), "quotes"),
        ("a\r\nc", "T1\tX 3 9\tbc\n", (1, 3), "3 to 9"),
        ("abc", "nonsense\n", (1, None), "no line of brat"),
        ("abc", "T1 X 0 2 ab\n", (1, None), "no line of brat"),
        ("abc", "T1\tX 0 " + "9" * 5000 + "\n", (1, None), "no line of brat"),
        ("abc", b"T1\tX \xc3", (None, None), "not UTF-8 at byte 5"),
        ("abc", None, (None, None), "beside its text"),
        (None, "T1\tX 0 2\tab\n", (None, None), "its text is missing"),
        (b"K\xf6ln", "", (None, None), "not UTF-8 at byte 1"),
    ],
)
def test_a_bad_document_is_refused_by_its_place(tmp_path, text, ann, place, words):
    put(tmp_path, "bad", text, ann)
    put(tmp_path, "a", "Anna", "T1\tNAME 0 4\tAnna\n")
    good, refused = read_brat(tmp_path)
    assert good.spans == (Span(0, 4, "NAME"),)
    assert isinstance(refused, Refused)
    assert refused.document == "bad"
    assert (refused.line, refused.offset) == place
    assert words in str(refused)


LETTERS = "aB \r\n\t;é漢😀\u2028\ufeff"


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_what_is_written_is_read_again(tmp_path_factory, data):
    text = data.draw(st.text(st.sampled_from(LETTERS), min_size=1, max_size=30))
    starts = data.draw(st.lists(st.integers(0, len(text) - 1), max_size=5))
    spans = [Span(s, data.draw(st.integers(s + 1, len(text))), "L-1") for s in starts]
    written = document(text, *sorted(spans), name="in/d 1")
    folder = tmp_path_factory.mktemp("brat")
    assert write_brat([written], folder) == ()
    (found,) = read_brat(folder)
    assert found.document.text == text
    assert found.document.id == "in/d 1"
    assert found.spans == written.spans


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (document("ab", Span(0, 1, "A B")), "rename the label"),
        (document("ab", Span(0, 1, "A", 0.5)), "no scores"),
        (document("ab", Span(0, 1, "A", is_denied=True)), "sources or denials"),
        (document("ab", Span(0, 3, "A")), "0 to 3"),
        (document("a\ud800"), "halves"),
        (document("a", name="../d"), "no name of a file"),
        (document("a", name="/d"), "no name of a file"),
        (document("a", name="a//d"), "no name of a file"),
        (document("a", name="a\nb"), "no name of a file"),
        (document("a", name=""), "no name of a file"),
        (document("a", name="x" * 300), "too long"),
        (document("a", name="first"), "there already"),
        (document("a", name="first.txt/d"), "cannot be written"),
    ],
)
def test_what_the_format_cannot_hold_is_refused_and_the_rest_is_written(
    tmp_path, bad, words
):
    documents = [document("x", name="first"), bad, document("y", name="last")]
    (refused,) = write_brat(documents, tmp_path / "out")
    assert refused.document == bad.document.id
    assert words in refused.sentence
    assert [each.document.text for each in read_brat(tmp_path / "out")] == ["x", "y"]


def test_a_public_gold_standard_comes_back_whole(test_data, tmp_path):
    path = test_data / "meddocan/dev.jsonl"
    if not path.exists():
        pytest.skip("no meddocan")
    documents = sorted(read_json_spans(path), key=lambda each: each.document.id)
    assert write_brat(documents, tmp_path) == ()
    found = list(read_brat(tmp_path))
    assert [each.spans for each in found] == [each.spans for each in documents]
    assert sum(len(each.spans) for each in found) == 5801
