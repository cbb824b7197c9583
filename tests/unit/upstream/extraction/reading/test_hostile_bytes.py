"""Whatever bytes lie in a file: documents or reasons, never anything else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from upstream.extraction.reading.outcomes import Quarantined, ReadDocument

FAMILIES = {
    "text": ("a.txt", {}),
    "columns": ("a.csv", {"texts": ["note"], "id": ["id"]}),
    "hl7": ("a.hl7", {}),
    "fhir": ("a.ndjson", {}),
    "xml": ("a.xml", {"note": "n", "record": "r", "id": "@i", "fields": {"f": "f"}}),
}
WORDS = {
    "text": [b"note ", b"\xc3", b"\xa4", b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b"%PDF-"],
    "columns": [b"id,note\n", b"1,", b'"', b"\r\n", b"\n", b'""', b"\xe4", b"\xc3\xa4"],
    "hl7": [
        *(b"MSH|^~\\&|a|b|c|d|e|f|g|m1|", b"\rOBX|1|TX|||", b"\rOBR|", b"\rNTE|1||"),
        *(b"\r", b"\n", b"\\.br\\", b"\\X", b"41\\", b"|", b"~", b"\x0b", b"\x1c\r"),
        *(b"BHS|", b"FTS|1", b"\xe4", b"MSH", b"\xef\xbb\xbf", b"OBX|2|ED"),
    ],
    "fhir": [
        *(
            b'{"resourceType": "DocumentReference", ',
            b'"content": [',
            b'{"attachment": ',
        ),
        *(b'{"data": "QQ=="}', b'{"url": "a.ndjson"}', b"}", b"]", b"{", b"[", b", "),
        *(b'"id": 7', b'{"resourceType": "Binary", "data": "QUI="}', b"\n", b"null"),
        *(b'"\\ud800"', b'"contentType": "text/html"', b"\xff", b'"data": []'),
        *(b'{"resourceType": "Observation", "valueString": ', b'"note": ', b'"a"'),
    ],
    "xml": [
        *(b"<r>", b"</r>", b"<n>", b"</n>", b"<f>", b"</f>", b"<r i='1'>", b"text"),
        *(b"&lt;", b"&x;", b"&#65;", b"<![CDATA[", b"]]>", b"<!DOCTYPE r [", b"]>"),
        *(b"<!ENTITY x 'y'>", b"<?xml version='1.0'", b" encoding='utf-16'", b"?>"),
        *(b"<!--", b"-->", b"\xff\xfe", b"\xc3\xa4", b"\xe4", b"\r\n", b"\xef\xbb\xbf"),
    ],
}


def contents(family):
    words = st.lists(st.sampled_from(WORDS[family]), max_size=25).map(b"".join)
    return st.one_of(words, words, st.binary(max_size=60))


def require_outcomes(family, found, raw):
    for each in found:
        json.dumps(each.position.to_json())
        if isinstance(each, Quarantined):
            assert each.sentence.isprintable()
            continue
        assert isinstance(each, ReadDocument)
        assert each.text.strip()
        each.text.encode()
        first, behind = each.original_range(0, len(each.text))
        assert 0 <= first <= behind
        is_own = each.place.file.startswith("a.") and family != "fhir"
        if each.place.unit == "byte" and is_own:
            assert behind <= len(raw)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_any_bytes_give_documents_or_reasons_and_go_on_from_each(imports, family):
    name, keys = FAMILIES[family]

    @settings(
        max_examples=120,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(contents(family))
    @example(b"")
    @example(b"MSH")
    @example(b"MSH|")
    @example(b"MSH|^~\\&")
    def check(raw):
        imports.put(name, raw)
        imports.put("z" + name[1:], b"sound" if family == "text" else b"x")
        found = imports.all(family, max_characters=50, files=["*"], **keys)
        require_outcomes(family, found, raw)
        for number, each in enumerate(found):
            behind = imports.all(
                family, max_characters=50, files=["*"], after=each.position, **keys
            )
            places = [b.place for b in behind]
            assert places == [w.place for w in found[number + 1 :]]

    check()


READ_LARGE = """
import re, sys
from pathlib import Path
from pydantic import TypeAdapter
from upstream.extraction.reading.reading import read_documents
from upstream.extraction.reading.specs import SourceSpec
spec = TypeAdapter(SourceSpec).validate_json(sys.argv[1])
def most_held():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
before = most_held()
told = [getattr(x, "reason", None) for x in read_documents(spec, Path(sys.argv[2]))]
print(told, most_held() - before)
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells it")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "begin"),
    [
        ("text", b""),
        ("columns", b"id,note\n1,"),
        ("columns", b'id,note\n1,"'),
        ("hl7", b"MSH|^~\\&|a\rOBX|1|TX|||"),
        ("fhir", b'{"resourceType": "Binary", "data": "'),
        ("xml", b"<r><n>"),
        ("xml", b"<r><n "),
    ],
)
def test_a_line_of_200_megabytes_is_never_held(imports, family, begin):
    name, keys = FAMILIES[family]
    with imports.put(name, begin).open("ab") as file:
        for _ in range(200):
            file.write(b"x" * 2**20)
    spec = imports.source(family, **keys).model_dump_json()
    done = subprocess.run(
        [sys.executable, "-c", READ_LARGE, spec, str(imports.path)],
        capture_output=True,
        text=True,
        check=True,
    )
    told, _, grown = done.stdout.strip().rpartition(" ")
    assert "Reason" in told
    assert "None" not in told
    assert int(grown) < 64 * 1024  # kilobytes
    imports.put(name, b"")
