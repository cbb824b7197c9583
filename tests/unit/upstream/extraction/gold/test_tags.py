"""Gold standards as tags within the text."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.extraction.gold.outcomes import GoldError, Refused
from upstream.extraction.gold.tagged_files import read_tagged, write_tagged
from upstream.extraction.gold.tags import with_tags, without_tags
from upstream.extraction.reading.outcomes import stored_text
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import AnnotatedDocument, Span

HIDE = (
    "CLINICAL HISTORY: <age>56</age> year old female with a history of B-cell lymphoma "
    "(Marginal zone, <id>SH-02-22222</id>, <date>6/22/01</date>). Flow cytometry and "
    "molecular diagnostics drawn."
)


def read(tagged):
    written, spans = without_tags(stored_text(tagged))
    return written.text, spans


def test_a_report_as_hide_prints_it_is_read_and_written():
    text, spans = read(HIDE)
    assert [(text[s.start : s.end], s.label) for s in spans] == [
        ("56", "age"),
        ("SH-02-22222", "id"),
        ("6/22/01", "date"),
    ]
    assert with_tags(text, tuple(spans)) == HIDE


@pytest.mark.parametrize(
    ("tagged", "text"),
    [
        ("R&D, BP <120 > 80", "R&D, BP <120 > 80"),
        ("a &lt;b> &amp;lt; &gt; &uuml;", "a <b> &lt; > &uuml;"),
        ("<a>&lt;</a>", "<"),
        ("", ""),
    ],
)
def test_what_is_no_tag_is_text(tagged, text):
    assert read(tagged)[0] == text


@pytest.mark.parametrize(
    ("tagged", "line", "offset", "words"),
    [
        ("x\n<a>b<c>d</c></a>", 2, 6, "within another"),
        ("<a>b<a>d</a>", 1, 4, "within another"),
        ("<a>b", 1, 0, "never closed"),
        ("b</a>", 1, 1, "not open"),
        ("<a>b</c>", 1, 4, "not open"),
        ("<a></a>", 1, 3, "no text in it"),
        ("<a b='c'>d</a>", 1, 0, "no whole tag"),
        ("<a", 1, 0, "no whole tag"),
        ("</ a>", None, None, ""),
    ],
)
def test_tags_that_are_not_in_pairs_are_refused_by_their_place(
    tagged, line, offset, words
):
    if line is None:
        assert read(tagged)[0] == tagged
        return
    with pytest.raises(GoldError, match=words) as caught:
        read(tagged)
    assert (caught.value.line, caught.value.offset) == (line, offset)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_is_written_with_tags_is_read_again(data):
    letters = ["a", "<", ">", "/", "&", "lt;", "amp;", "&lt;", "\r\n", "é", "<b>", " "]
    parts = data.draw(st.lists(st.sampled_from(letters), min_size=1, max_size=20))
    text = "".join(parts)
    cuts = st.lists(st.integers(0, len(text)), max_size=6, unique=True)
    cuts = sorted(data.draw(cuts))
    spans = tuple(
        Span(a, b, "x-1") for a, b in zip(cuts[::2], cuts[1::2], strict=False)
    )
    written, found = without_tags(stored_text(with_tags(text, spans)))
    assert (written.text, tuple(found)) == (text, spans)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["<a>", "</a>", "<", "b", "&lt;", "<c>", "</"])))
def test_any_tags_are_read_or_refused(parts):
    with suppress(GoldError):
        text, spans = read("".join(parts))
        assert all(text[span.start : span.end] for span in spans)


def test_files_of_tagged_texts_come_back_and_bad_ones_are_refused(tmp_path):
    def document(text, *spans, name):
        return AnnotatedDocument(TextDocument(name, text, Place("x")), spans)

    sound = document("Anna <56>", Span(0, 4, "name"), name="a/b")
    overlap = document("abc", Span(0, 2, "x"), Span(1, 3, "y"), name="c")
    blank = document("abc", Span(0, 2, "x y"), name="d")
    scored = document("abc", Span(0, 2, "x", 0.5), name="e")
    refused = write_tagged([sound, overlap, blank, scored], tmp_path)
    assert [each.document for each in refused] == ["c", "d", "e"]
    (tmp_path / "bad.txt").write_text("<a>b")
    found, bad = read_tagged(tmp_path)
    assert (tmp_path / "a/b.txt").read_text() == "<name>Anna</name> &lt;56>"
    assert (found.document.id, found.document.text) == ("a/b", "Anna <56>")
    assert found.spans == sound.spans
    assert found.document.original_range(0, 6) == (6, 22)
    assert isinstance(bad, Refused)
    assert str(bad) == (
        "bad.txt:1: document bad, offset 0, a tag opens here and is never closed"
    )
