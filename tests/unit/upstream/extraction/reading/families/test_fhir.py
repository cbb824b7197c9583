"""FHIR ndjson: attachments, values, files beside it, and what is set aside."""

import base64
import json

import pytest

from upstream.extraction.reading.outcomes import Quarantined


def b64(content):
    raw = content if isinstance(content, bytes) else content.encode()
    return base64.b64encode(raw).decode()


def reference(data=None, kind="text/plain", number=1, **keys):
    attachment = {"contentType": kind, "data": data, **keys}
    attachment = {key: value for key, value in attachment.items() if value is not None}
    return {
        "resourceType": "DocumentReference",
        "id": str(number),
        "subject": {"reference": "Patient/7"},
        "date": "2024-01-02",
        "content": [{"attachment": attachment}],
    }


def lines(*resources):
    return "".join(json.dumps(each) + "\n" for each in resources)


def test_attachments_are_decoded_and_have_their_patient(imports):
    imports.put("a.ndjson", lines(reference(b64("Köln"))))
    (found,) = imports.all("fhir")
    assert (found.id, found.text) == ("DocumentReference/1", "Köln")
    assert found.fields == {"patient": "Patient/7", "date": "2024-01-02"}
    assert found.place.item == "line 1, content 1"
    assert found.original_range(1, 2) == (1, 3)  # bytes of the attachment


@pytest.mark.parametrize(
    ("kind", "raw", "text"),
    [
        ("text/plain; charset=ISO-8859-1", "Köln".encode("latin-1"), "Köln"),
        ("text/plain;charset=utf-16", "Köln".encode("utf-16"), "Köln"),
        ("TEXT/HTML", b"<p>Herr<br/>M&uuml;ller</p><p>K</p>", "Herr\nMüller\nK"),
        ("text/html", b"<style>a</style>1 < 2 & 3 &lt;&#228;", "1 < 2 & 3 <ä"),
        ("text/html", b"<!-- no --><td>a</td><td title='>'>b</td>", "a\tb"),
        ("text/html", b"<script>no</script>a <b>b", "a b"),
        ("text/html", b"open <!-- comment <p", "open <!-- comment <p"),
        ("text/xml", b"<a>x &amp; <b>y</b><title>z</title></a>", "x & y\nz"),
        ("application/xml", "<?xml version='1.0' encoding='latin1'?><a>é</a>", "é"),
        (None, "Köln".encode("cp1252"), "Köln"),
    ],
)
def test_contents_are_read_by_their_type(imports, kind, raw, text):
    raw = raw.encode("latin-1") if isinstance(raw, str) else raw
    imports.put("a.ndjson", lines(reference(b64(raw), kind)))
    assert imports.texts("fhir") == {"DocumentReference/1": text}


def test_reports_observations_and_binaries_have_texts(imports):
    report = {"resourceType": "DiagnosticReport", "id": "r", "conclusion": "well"}
    report["presentedForm"] = [{"data": b64("a")}, {"data": b64("b")}]
    observation = {"resourceType": "Observation", "id": "o", "valueString": "tall"}
    observation["note"] = [{"text": "said so"}]
    observation["effectiveDateTime"] = "2024"
    binary = {"resourceType": "Binary", "id": "b", "contentType": "text/plain"}
    binary["data"] = b64("bin")
    silent = [{"resourceType": "Patient", "id": "p"}, {"resourceType": ["odd"]}, {}]
    imports.put("a.ndjson", lines(report, observation, binary, *silent))
    assert imports.texts("fhir") == {
        "DiagnosticReport/r": "a",
        "DiagnosticReport/r/2": "b",
        "DiagnosticReport/r/conclusion": "well",
        "Observation/o": "tall",
        "Observation/o/note/1": "said so",
        "Binary/b": "bin",
    }
    value = imports.all("fhir")[3]
    assert (value.place.unit, value.fields) == ("character", {"date": "2024"})


def test_files_beside_the_resources_are_followed_and_others_are_not(imports, tmp_path):
    (tmp_path / "out.txt").write_text("secret")
    imports.put("in/notes/a b.txt", "beside")
    (imports.path / "in/link.txt").symlink_to(tmp_path / "out.txt")
    urls = [
        "notes/a%20b.txt",
        "notes/none.txt",
        "https://host/Binary/1",
        "file:///etc/hostname",
        "/etc/hostname",
        "../../out.txt",
        "link.txt",
        "%00",
        "n" * 5000,
    ]
    many = [reference(url=url, number=n) for n, url in enumerate(urls)]
    imports.put("in/a.ndjson", lines(*many))
    first, *others = imports.all("fhir", folder="in", files=["*.ndjson"])
    assert (first.text, first.place.file) == ("beside", "in/notes/a b.txt")
    assert [each.reason.value for each in others] == [
        "elsewhere",
        "elsewhere",
        "elsewhere",
        "elsewhere",
        "outside_folder",
        "outside_folder",
        "elsewhere",
        "unreadable",
    ]


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (lines(reference("!!!!")), "bad_base64"),
        (lines(reference("QQ")), "bad_base64"),
        (lines(reference("ä")), "bad_base64"),
        (lines(reference("")), "empty"),
        (lines(reference()), "empty"),
        (lines(reference(b64("%PDF-1.7"), "application/pdf")), "other_format"),
        (lines(reference(b64("%PDF-1.7"))), "other_format"),
        (lines(reference(b64("a"), "text/plain;charset=ebcdic")), "bad_encoding"),
        (lines(reference(b64("x" * 1001))), "too_long"),
        (lines(reference(b64("x" * 100_000))), "too_long"),
        (lines(reference(b64(b"a\0b"))), "binary"),
        (lines(reference(b64("<a><b></a>"), "text/xml")), "bad_structure"),
        ("{nonsense}\n", "not_json"),
        ("[1]\n", "not_json"),
        ('{"a": ' + "9" * 5000 + "}\n", "not_json"),
        ('{"a": ' + DEEP + "}\n", "too_deep"),
        (b'{"a": "\xff"}\n', "bad_encoding"),
        ('{"a": "' + "x" * 3_000_000 + '"}\n', "too_long"),
        (
            '{"resourceType": "Observation", "id": "o", "valueString": "\\ud800"}\n',
            "bad_encoding",
        ),
        ('{"resourceType": "DocumentReference", "content": 7}\n', "empty"),
        ('{"resourceType": "DocumentReference", "content": [7, 8]}\n', "empty"),
    ],
)
def test_a_bad_line_is_set_aside_and_the_next_is_read(imports, bad, reason):
    raw = bad if isinstance(bad, bytes) else bad.encode()
    imports.put("a.ndjson", raw + lines(reference(b64("good"), number="g")).encode())
    found = imports.all("fhir", max_characters=1000)
    assert found[0].reason == reason
    assert found[0].place.item.startswith("line 1")
    assert found[-1].text == "good"


def test_a_resource_that_comes_again_is_set_aside(imports):
    imports.put("a.ndjson", lines(reference(b64("a")), reference(b64("b"))))
    assert imports.reasons("fhir") == [None, "duplicate_id"]


def test_reading_lines_goes_on_behind_any_position(imports):
    double = reference(b64("a"), number="d")
    double["content"] *= 2
    many = [reference(b64(f"n{n}"), number=n) for n in range(5)]
    imports.put("a.ndjson", lines(*many) + "nonsense\n\n" + lines(double))
    imports.put("b.ndjson", lines(reference(b64("b"), number="b")))
    whole = imports.all("fhir")
    assert len(whole) == 9
    for number, each in enumerate(whole):
        assert imports.all("fhir", after=each.position) == whole[number + 1 :]


def test_a_flaw_names_line_and_byte(imports):
    imports.put("a.ndjson", lines(reference(b64("a"))) + "nonsense\n")
    bad = imports.all("fhir")[1]
    assert isinstance(bad, Quarantined)
    at = len(lines(reference(b64("a"))))
    assert bad.sentence == f"a.ndjson, line 2, at byte {at}: the line is no JSON"


def test_an_id_with_half_a_character_is_set_aside(imports):
    resource = {"resourceType": "Observation", "id": "\ud800", "valueString": "a"}
    imports.put("a.ndjson", lines(resource))
    assert imports.reasons("fhir") == ["bad_encoding"]


def test_an_attachment_that_is_a_large_file_is_set_aside(imports):
    imports.put("big.txt", "x" * 10_000)
    imports.put("a.ndjson", lines(reference(url="big.txt")))
    keys = {"files": ["*.ndjson"], "max_characters": 1000}
    assert imports.reasons("fhir", **keys) == ["too_long"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a <![CDATA[b < c]]> d", "a b < c d"),
        ("1 <2 and </ 3", "1 <2 and </ 3"),
        ("<a title='>' b>x", "x"),
        ("<a title='> x", " x"),
        ("<script>never closed", "never closed"),
        ("<STYLE>a</STYLE>b", "b"),
        ("&nope; &amp;lt; &#; &#xZ;", "&nope; &lt; &#; &#xZ;"),
        ("<?php a ?>b<!DOCTYPE c>d", "bd"),
    ],
)
def test_html_that_is_not_well_formed_is_read_as_far_as_it_says(imports, html, text):
    imports.put("a.ndjson", lines(reference(b64(html), "text/html")))
    assert imports.texts("fhir") == {"DocumentReference/1": text}
