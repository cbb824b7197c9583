"""Text files: ids, encodings, and what is set aside."""

import bz2
import gzip
import inspect
import io
import json
import os
import sys
import zipfile

import pytest
from pydantic import ValidationError

from upstream.errors import IngestionError
from upstream.extraction.reading.outcomes import Position, Quarantined
from upstream.extraction.reading.seen_ids import SeenIds


def zipped(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", content)
    return file.getvalue()


def test_a_files_id_is_its_path_under_the_sources_folder(imports):
    imports.put("in/b/one.txt", "Anna\r\n")
    imports.put("in/a.txt", "Berta")
    imports.put("in/c.doc", "not named")
    found = imports.texts("text", folder="in", files=["**/*.txt"])
    assert found == {"a.txt": "Berta", "b/one.txt": "Anna\r\n"}
    assert imports.all("text", folder="in", files=["*.txt"])[0].place.file == "in/a.txt"


def test_named_groups_of_a_path_become_fields_and_the_id(imports):
    imports.put("p17/2024-note.txt", "a")
    imports.put("p17/other.txt", "b")
    pattern = r"p(?P<patient>\d+)/(?P<id>\d+)-.*"
    good, bad = imports.all("text", id_pattern=pattern)
    assert (good.id, good.fields) == ("2024", {"patient": "17"})
    assert bad.reason == "no_id"


@pytest.mark.parametrize(
    ("raw", "text", "encoding", "how"),
    [
        ("Müller".encode(), "Müller", "utf-8", "valid"),
        ("Müller".encode("utf-8-sig"), "Müller", "utf-8", "mark"),
        ("Müller".encode("utf-16"), "Müller", "utf-16-le", "mark"),
        (b"\xfe\xff" + "é\n".encode("utf-16-be"), "é\n", "utf-16-be", "mark"),
        ("Frau Müller".encode("utf-16-le"), "Frau Müller", "utf-16-le", "guessed"),
        ("Frau Müller".encode("utf-16-be"), "Frau Müller", "utf-16-be", "guessed"),
        ("Frau Müller \u2013 37°C".encode("cp1252"), None, "windows-1252", "guessed"),
        ("un café".encode("latin-1"), "un café", "windows-1252", "guessed"),
        ("e\u0301 ﬁ".encode(), "e\u0301 ﬁ", "utf-8", "valid"),
        ("a\rb\x0bc\u2028d".encode(), "a\rb\x0bc\u2028d", "utf-8", "valid"),
        (b"BZhang, Wei", "BZhang, Wei", "utf-8", "valid"),
    ],
)
def test_an_encoding_is_detected_and_told_and_nothing_is_normalised(
    imports, raw, text, encoding, how
):
    imports.put("a.txt", raw)
    (found,) = imports.all("text")
    assert found.text == (text or raw.decode(encoding))
    assert (found.encoding, found.encoding_from) == (encoding, how)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("Frau Müller, Köln".encode()[:7], "bad_encoding"),
        ("Köln, Frau Müller".encode()[:14], "bad_encoding"),
        ("Kö \u2013 ".encode()[:-2], "bad_encoding"),
        ("Иван Петров был".encode("cp1251"), "bad_encoding"),
        (b"\xff\xfea\0b", "bad_encoding"),
        (b"a note\0with zeros", "binary"),
        (bytes(500), "binary"),
        *(
            (b"an ordinary note of a patient.."[:n] + b"\0", "binary")
            for n in range(9, 30)
        ),
        (b"\x01\x02\x03\x04 note", "binary"),
        (b"%PDF-1.7\n", "other_format"),
        (zipped("a"), "other_format"),
        (zipped(zipped("a")), "other_format"),
        (gzip.compress(b"note", mtime=0), "other_format"),
        (b"{\\rtf1 note}", "other_format"),
        (b"\xd0\xcf\x11\xe0rest", "other_format"),
        (b"", "empty"),
        (b"\xef\xbb\xbf \r\n\t", "empty"),
        (b"a" * 1001, "too_long"),
        (("ä" * 1001).encode(), "too_long"),
        (b"a" * 100_000, "too_long"),
    ],
)
def test_what_is_no_text_is_set_aside_and_the_rest_is_read(imports, raw, reason):
    imports.put("bad.txt", raw)
    imports.put("good.txt", "a" * 1000)
    bad, good = imports.all("text", max_characters=1000)
    assert (bad.id, bad.reason) == ("bad.txt", reason)
    assert bad.sentence.startswith("bad.txt")
    assert good.text == "a" * 1000


def test_a_sentence_names_file_and_byte_and_quotes_no_text(imports):
    imports.put("in/bad.txt", "Köln, Herr Schmidt\u2013".encode()[:-1])
    (bad,) = imports.all("text")
    assert bad.sentence == (
        "in/bad.txt, at byte 19: the text ends within a character of utf-8: it was cut "
        "off"
    )


@pytest.mark.parametrize(
    ("declared", "raw", "expected"),
    [
        ("windows-1252", "“Köln”".encode("cp1252"), "“Köln”"),
        ("iso-8859-15", b"5 \xa4", "5 €"),
        ("utf-16", "Köln".encode("utf-16-le"), "Köln"),
        ("utf-16-be", "Köln".encode("utf-16-be"), "Köln"),
        ("utf-16-be", b"\xff\xfea\0", "bad_encoding"),
        ("utf-8", b"K\xf6ln", "bad_encoding"),
        ("ascii", "Köln".encode(), "bad_encoding"),
        ("windows-1252", b"\xef\xbb\xbfa", "bad_encoding"),
    ],
)
def test_a_declared_encoding_is_that_or_nothing(imports, declared, raw, expected):
    imports.put("a.txt", raw)
    (found,) = imports.all("text", encoding=declared)
    is_bad = isinstance(found, Quarantined)
    assert (found.reason.value if is_bad else found.text) == expected
    assert is_bad or found.encoding_from == "declared"


def test_links_that_leave_the_folder_are_set_aside(imports, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (imports.path / "a.txt").symlink_to(tmp_path / "secret.txt")
    (imports.path / "b.txt").symlink_to(tmp_path / "nothing.txt")
    (imports.path / "c").symlink_to(tmp_path / "elsewhere")
    (imports.path / "d.txt").symlink_to("d.txt")
    os.mkfifo(imports.path / "e.txt")
    found = imports.reasons("text")
    assert found == [
        "outside_folder",
        "unreadable",
        "outside_folder",
        "unreadable",
        "unreadable",
    ]


def test_a_file_is_read_once_however_many_links_lead_to_it(imports):
    imports.put("notes/b.txt", "note")
    imports.put("archive/x.txt", "old")
    (imports.path / "notes/a.txt").symlink_to("b.txt")
    (imports.path / "notes/c.txt").symlink_to("../archive/x.txt")
    (imports.path / "notes/d.txt").symlink_to("../archive/x.txt")
    assert imports.reasons("text", folder="notes") == [
        "duplicate_id",
        None,
        None,
        "duplicate_id",
    ]


def test_names_that_are_no_text_are_set_aside(imports):
    imports.put("a\nb.txt", "note")
    imports.put(os.fsdecode(b"\xff.txt"), "note")
    found = imports.all("text")
    assert [each.reason for each in found] == ["bad_name", "bad_name"]
    assert all(each.sentence.isprintable() and each.id.isascii() for each in found)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_what_may_not_be_read_is_set_aside(imports):
    imports.put("a.txt", "note").chmod(0)
    imports.put("b/c.txt", "note").parent.chmod(0)
    assert imports.reasons("text") == ["unreadable", "unreadable"]
    (imports.path / "b").chmod(0o700)


def test_a_second_document_of_an_id_is_set_aside(imports):
    imports.put("a/7.txt", "first")
    imports.put("b/7.txt", "second")
    found = imports.all("text", id_pattern="./(?P<id>.*)")
    assert [getattr(each, "reason", None) for each in found] == [None, "duplicate_id"]


def test_ids_in_a_file_are_known_to_the_reading_that_goes_on(imports, tmp_path):
    for name in ("a/7", "b/8", "c/7"):
        imports.put(name + ".txt", name)
    keys = {"id_pattern": "./(?P<id>.*)"}
    with SeenIds(tmp_path / "seen") as seen:
        first, second, _ = imports.all("text", seen=seen, **keys)
    with SeenIds(tmp_path / "seen") as seen:
        after = first.position
        again, third = imports.all("text", seen=seen, after=after, **keys)
    assert again == second
    assert third.reason == "duplicate_id"


@pytest.mark.parametrize("files", [["*.txt"], ["**/*", "none/*.txt"]])
def test_a_pattern_that_names_nothing_is_refused(imports, files):
    imports.put("a.csv", "note")
    with pytest.raises(IngestionError, match="no file matches for source notes"):
        imports.all("text", files=files)


@pytest.mark.parametrize("folder", ["nowhere", "out"])
def test_a_folder_that_is_none_inside_is_refused(imports, tmp_path, folder):
    (imports.path / "out").symlink_to(tmp_path)
    with pytest.raises(IngestionError, match="no folder inside"):
        imports.all("text", folder=folder)


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("*.txt", ["a.txt"]),
        ("**/*.txt", [".hidden/x.txt", "a.txt", "b/a.txt", "b/c/d.txt"]),
        ("**", [".hidden/x.txt", "a.txt", "b/a.txt", "b/c/d.txt"]),
        ("b/**/d.txt", ["b/c/d.txt"]),
        ("[!b]*/?.txt", [".hidden/x.txt"]),
        ("b/[a-c].txt", ["b/a.txt"]),
        ("**/[z-a]*", []),
        (".hidden/*", [".hidden/x.txt"]),
    ],
)
def test_patterns_name_files_as_pathlib_does(imports, pattern, named):
    for name in ("a.txt", "b/a.txt", "b/c/d.txt", ".hidden/x.txt"):
        imports.put(name, "note")
    if named:
        assert list(imports.texts("text", files=[pattern])) == named
    else:
        with pytest.raises(IngestionError):
            imports.all("text", files=[pattern])


def test_reading_goes_on_behind_any_position(imports):
    for name in ("a.txt", "b/a.txt", "b/c/d.txt", "b.txt", "z.txt"):
        imports.put(name, f"note {name}")
    whole = imports.all("text")
    assert len(whole) == 5
    for number, each in enumerate(whole):
        saved = json.loads(json.dumps(each.position.to_json()))
        after = Position.from_json(saved)
        assert imports.all("text", after=after) == whole[number + 1 :]


@pytest.mark.parametrize(
    "saved", [None, [], {}, {"file": "a"}, {"file": 1, "record": 1}]
)
def test_what_is_no_position_is_refused(saved):
    with pytest.raises(IngestionError, match="no position"):
        Position.from_json(saved)


def test_folders_are_walked_without_a_frame_for_each(imports):
    name = "d/" * 200 + "a.txt"
    imports.put(name, "x")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 120)
    try:
        found = imports.texts("text", files=["**/*.txt"])
    finally:
        sys.setrecursionlimit(before)
    assert found == {name: "x"}


def test_an_id_of_any_length_is_set_aside(imports):
    """Indexes of databases hold no longer ones, and bytes are what they count."""
    imports.put("a.csv", "id,note\n" + "7" * 5000 + ",a\n8,b\n" + "é" * 1001 + ",c\n")
    bad, good, wide = imports.all("columns", texts=["note"], id=["id"])
    assert (bad.reason, len(bad.id), good.text) == ("no_id", 2000, "b")
    assert wide.reason == "no_id"


@pytest.mark.parametrize(
    "keys",
    [
        {"files": []},
        {"files": ["."]},
        {"files": ["a/../../b"]},
        {"folder": "/etc"},
        {"id_pattern": "(unclosed"},
        {"encoding": "utf-7"},
        {"kind": "unknown"},
        {"name": "Not A Name"},
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(imports, keys):
    with pytest.raises(ValidationError):
        imports.source(**({"kind": "text"} | keys))


def test_a_file_that_can_no_longer_be_read_is_set_aside_when_reading_goes_on(imports):
    imports.put("a.csv", "note\na\nb\n")
    imports.put("b.csv", "note\nc\n")
    first, *_ = imports.all("columns", texts=["note"])
    (imports.path / "a.csv").unlink()
    (imports.path / "a.csv").symlink_to("nowhere")
    gone, other = imports.all("columns", texts=["note"], after=first.position)
    assert (gone.reason, other.text) == ("unreadable", "c")
    (last,) = imports.all("columns", texts=["note"], after=gone.position)
    assert last == other


def test_a_dicom_file_and_one_of_bzip2_are_set_aside(imports):
    imports.put("a.txt", b"a" * 128 + b"DICM")
    imports.put("b.txt", bz2.compress(b"note"))
    assert imports.reasons("text") == ["other_format", "other_format"]
