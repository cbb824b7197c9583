"""Through every decoding, a span's bytes in the original say the span again."""

import base64
import json
import re
from html import escape, unescape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from upstream.extraction.reading.decoding.encodings import decode
from upstream.extraction.reading.decoding.hl7_messages import Message
from upstream.extraction.reading.decoding.html_texts import html_text
from upstream.extraction.reading.decoding.rewriting import Rewriter
from upstream.extraction.reading.decoding.xml_texts import xml_text
from upstream.extraction.text.documents import Place, TextDocument, pieces_of

SIZES = settings(max_examples=60, deadline=None)
LETTERS = "aZ 0\t\n\r'\".,;|^~&<>\\#äöüßéñ€“İǅ漢字\u0301\u2013\u2028\ufeff😀"
TEXTS = st.text(st.sampled_from(LETTERS), min_size=1, max_size=40)
WESTERN = st.text(st.sampled_from("aZ 0\n\r.,äöüßéñ"), min_size=1, max_size=40)


def document(written):
    return TextDocument("d", written.text, Place("d"), written.pieces)


def require_all_spans(written, raw, said, expected):
    """Compare each span with what its bytes say; ``said`` decodes them again."""
    assert written.text == expected
    found = document(written)
    for start in range(len(expected)):
        for end in range(start + 1, min(start + 8, len(expected)) + 1):
            first, behind = found.original_range(start, end)
            assert 0 <= first <= behind <= len(raw)
            assert said(raw[first:behind]) == expected[start:end]


@SIZES
@given(TEXTS, st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]))
def test_bytes_of_unicode_say_their_spans(text, encoding):
    raw = ("\ufeff" + text).encode(encoding)
    require_all_spans(decode(raw), raw, lambda part: part.decode(encoding), text)


@SIZES
@given(
    st.text(st.sampled_from("aZ \u00e9\u6f22\u5b57"), min_size=1),
    st.sampled_from(["utf-8", "utf8", "gb18030", "utf-16-le"]),
)
def test_pieces_are_the_same_for_every_name_of_an_encoding(text, encoding):
    raw = text.encode(encoding)
    pieces = pieces_of(text, encoding)
    found = TextDocument("d", text, Place("d"), pieces)
    for at, character in enumerate(text):
        first, behind = found.original_range(at, at + 1)
        assert raw[first:behind].decode(encoding) == character


@SIZES
@given(WESTERN, st.sampled_from(["windows-1252", "iso-8859-1", "iso-8859-15"]))
def test_bytes_of_one_byte_encodings_say_their_spans(text, encoding):
    raw = text.encode(encoding)
    written = decode(raw, encoding)
    require_all_spans(written, raw, lambda part: part.decode(encoding), text)


ESCAPES = {"|": "F", "^": "S", "&": "T", "~": "R", "\\": "E", "\n": ".br", "\r": "X0D"}


def escaped_hl7(text):
    return "".join(f"\\{ESCAPES[c]}\\" if c in ESCAPES else c for c in text)


def said_by_hl7(part):
    text = part.decode()
    for code in ESCAPES.values():
        text = text.replace(f"\\{code}\\", "\0" + code)
    for character, code in ESCAPES.items():
        text = text.replace("\0" + code, character)
    return text


@SIZES
@given(TEXTS)
def test_bytes_of_hl7_say_their_spans(text):
    raw = f"MSH|^~\\&|é\rOBX|1|TX|||{escaped_hl7(text)}|F\r".encode()
    message = Message(decode(raw, "utf-8"), "\r")
    rewriter = Rewriter(message.written)
    message.add_text(rewriter, message.segments[1], 5)
    require_all_spans(rewriter.written(), raw, said_by_hl7, text)


XML_TEXTS = st.lists(
    st.tuples(
        st.text(st.sampled_from(LETTERS.replace(">", "")), min_size=1, max_size=8),
        st.sampled_from(["plain", "numbers", "cdata"]),
    ),
    min_size=1,
    max_size=6,
)


def as_xml(text, way):
    if way == "cdata":
        return f"<![CDATA[{text}]]>"
    if way == "numbers":
        return "".join(f"&#{ord(c)};" for c in text)
    return escape(text, quote=False)


def said_by_xml(part):
    pieces = re.split(r"<!\[CDATA\[|\]\]>", part)
    return "".join(unescape_xml(piece) for piece in pieces)


def unescape_xml(text):
    def meaning(match):
        named = {"amp": "&", "lt": "<", "gt": ">"}
        return named.get(match[1]) or chr(int(match[1].removeprefix("#")))

    return re.sub(r"&(amp|lt|gt|#[0-9]+);", meaning, text)


@pytest.mark.long
@SIZES
@given(XML_TEXTS, st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]))
def test_bytes_of_xml_say_their_spans(parts, encoding):
    text = "".join(part for part, _ in parts)
    body = "<i>b</i>".join(as_xml(*part) for part in parts)
    raw = f"\ufeff<n>{body}</n>".encode(encoding)
    written = xml_text(raw)
    assert written.text == "b".join(part for part, _ in parts)
    found = document(written)
    at = 0
    for part, way in parts:  # a span within one part: between them stand elements
        if way == "cdata" and "&" in part:
            at += len(part) + 1
            continue
        for start in range(len(part)):
            first, behind = found.original_range(at + start, at + len(part))
            said = said_by_xml(raw[first:behind].decode(encoding))
            assert said == part[start:]
        at += len(part) + 1
    assert len(text) <= len(written.text)


@SIZES
@given(TEXTS)
def test_bytes_of_html_say_their_spans(text):
    raw = escape(text).encode()
    written = html_text(decode(raw, "utf-8"))
    expected = text.removeprefix("\ufeff")
    require_all_spans(written, raw, lambda part: unescape(part.decode()), expected)


FOLDER = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def sound(text):
    return bool(text.strip()) and not text.startswith("\ufeff")


@FOLDER
@given(text=TEXTS.filter(sound))
def test_cells_of_csv_say_their_spans(imports, text):
    written = text.replace('"', '""')
    raw = f'id,note\n7,"{written}"\n'.encode()
    imports.put("a.csv", raw)
    (found,) = imports.all("columns", texts=["note"], id=["id"])
    require_all_spans(found, raw, lambda part: part.decode().replace('""', '"'), text)


@FOLDER
@given(text=TEXTS.filter(sound))
def test_bytes_of_an_attachment_say_their_spans(imports, text):
    raw = text.encode()
    data = base64.b64encode(raw).decode()
    resource = {"resourceType": "Binary", "id": "b", "data": data}
    imports.put("a.ndjson", json.dumps(resource))
    (found,) = imports.all("fhir")
    require_all_spans(found, raw, bytes.decode, text)


@pytest.mark.parametrize(
    ("html", "span", "raw"),
    [
        ("<p>a</p><p>b</p>", (0, 3), "a</p><p>b"),
        ("<p>a</p><p>b</p>", (0, 2), "a"),
        ("<p>a</p><p>b</p>", (1, 3), "</p><p>b"),
    ],
)
def test_a_span_over_a_break_covers_what_stands_between(html, span, raw):
    found = document(html_text(decode(html.encode())))
    assert found.text == "a\nb"
    first, behind = found.original_range(*span)
    assert html[first:behind] == raw
