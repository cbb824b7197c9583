"""XML notes: records, fields, places, and what is refused."""

import pytest
from pydantic import ValidationError

I2B2 = """<?xml version="1.0" encoding="UTF-8"?>
<ROOT>
<RECORD ID="502"><TEXT>Herr <PHI TYPE="P">M\u00fcller</PHI> &lt;56&gt;
left</TEXT></RECORD>
<RECORD ID="503"><DAY> 2024 </DAY><TEXT><![CDATA[a & <b>]]></TEXT>
<TEXT>c</TEXT></RECORD>
</ROOT>"""
KEYS = {
    "note": "TEXT",
    "record": "RECORD",
    "id": "@ID",
    "fields": {"day": "DAY", "language": "TEXT/@lang"},
}


def test_notes_of_records_have_their_ids_and_fields(imports):
    imports.put("a.xml", I2B2)
    found = imports.all("xml", **KEYS)
    assert [(each.id, each.text, each.fields) for each in found] == [
        ("502", "Herr Müller <56>\nleft", {}),
        ("503", "a & <b>", {"day": "2024"}),
        ("503/2", "c", {"day": "2024"}),
    ]
    assert found[2].place.item == "record 2, note 2"


def test_a_whole_file_is_one_record_where_none_is_declared(imports):
    imports.put("a.xml", '<n id="7"><text lang="de">eins</text></n>')
    (found,) = imports.all("xml", note="n/text", fields={"language": "text/@lang"})
    assert (found.id, found.fields) == ("a.xml", {"language": "de"})


def test_the_sections_of_a_cda_document_are_notes(imports):
    cda = """<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:x="y"><id extension="d1"/>
    <component><structuredBody><component><section><title>Plan</title>
    <text><paragraph>Rest.</paragraph><list><item>A</item><item>B</item></list>
    <table><tr><td>x</td><td>y</td></tr></table></text></section></component>
    <component><section><text>Two<br/>lines <content>here</content></text></section>
    </component></structuredBody></component></ClinicalDocument>"""
    imports.put("a.xml", cda)
    found = imports.texts("xml", note="section/text", id="id/@extension")
    assert found == {"d1": "Rest.\nA\nB\n    x\ty", "d1/2": "Two\nlines here"}


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252", "iso-8859-1"]
)
def test_characters_keep_their_bytes_in_every_encoding(imports, encoding):
    note = "M\u00fcller\r\n&amp;&#xe9;\r<![CDATA[&\u00e4]]>&#10;z"
    name = encoding.removesuffix("-sig")
    raw = f"<?xml version='1.0' encoding='{name}'?><n>{note}</n>".encode(encoding)
    imports.put("a.xml", raw)
    (found,) = imports.all("xml", note="n")
    assert found.text == "Müller\r\n&é\r&ä\nz"
    wide = "utf-16-le" if encoding == "utf-16" else name

    def original(start, end):
        first, behind = found.original_range(start, end)
        return raw[first:behind].decode(wide)

    assert original(1, 2) == "ü"
    assert original(6, 8) == "\r\n"
    assert original(8, 9) == "&amp;"
    assert original(9, 10) == "&#xe9;"
    assert original(11, 13) == "&ä"
    assert original(13, 15) == "]]>&#10;z".removeprefix("]]>")


BOMB = (
    '<!DOCTYPE n [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;">]><n>&c;</n>'
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (BOMB, "entities"),
        (
            '<!DOCTYPE n [<!ENTITY x SYSTEM "file:///etc/passwd">]><n>&x;</n>',
            "entities",
        ),
        ('<!DOCTYPE n SYSTEM "http://host/x.dtd"><n>&x;</n>', "entities"),
        ('<!DOCTYPE n [<!ENTITY % p SYSTEM "x">%p;]><n>a</n>', "entities"),
        ("<n>&x;</n>", "bad_structure"),
        ("<n>a", "bad_structure"),
        ("a note", "bad_structure"),
        ("", "bad_structure"),
        ("<n>a</m>", "bad_structure"),
        (b"<n>K\xf6ln</n>", "bad_structure"),
        ("<a>" * 300 + "</a>" * 300, "too_deep"),
        ("<n>" + "x" * 1001 + "</n>", "too_long"),
        ("<n>" + "x" * 500_000 + "</n>", "too_long"),
        (f'<n a="{"x" * 3_000_000}"/>', "too_long"),
        (f"<!--{'x' * 3_000_000}--><n>a</n>", "too_long"),
        ("<m>no note</m>", "empty"),
        ("<n> </n>", "empty"),
        ("<?xml version='1.0' encoding='klingon'?><n>a</n>", "bad_encoding"),
        (
            b"\xef\xbb\xbf<?xml version='1.0' encoding='latin1'?><n>a</n>",
            "bad_encoding",
        ),
        (b"%PDF-1.7", "other_format"),
        (b"<n>a\0</n>", "bad_structure"),
        ("<?xml version='1.0' encoding='utf-16'?><n>a</n>", "bad_structure"),
    ],
)
def test_what_is_no_safe_xml_is_set_aside(imports, content, reason):
    imports.put("a.xml", content)
    imports.put("b.xml", "<n>good</n>")
    bad, good = imports.all("xml", note="n", max_characters=1000)
    assert (bad.reason, good.text) == (reason, "good")


def test_records_before_a_flaw_are_read(imports):
    imports.put("a.xml", I2B2.replace("</ROOT>", "<RECORD>"))
    found = imports.all("xml", **KEYS)
    assert len(found) == 4
    assert found[3].place.item == "from record 3 on"
    assert imports.all("xml", after=found[3].position, **KEYS) == []


def test_a_note_outside_of_records_is_set_aside(imports):
    imports.put("a.xml", "<R><TEXT>x</TEXT><RECORD ID='1'><TEXT>y</TEXT></RECORD></R>")
    outside, inside = imports.all("xml", **KEYS)
    assert (outside.reason, inside.text) == ("bad_structure", "y")


def test_a_record_without_its_id_and_one_with_a_long_field_are_set_aside(imports):
    long = f"<RECORD ID='1'><DAY>{'x' * 20_000}</DAY><TEXT>y</TEXT></RECORD>"
    imports.put("a.xml", f"<R><RECORD><TEXT>y</TEXT></RECORD>{long}</R>")
    assert imports.reasons("xml", **KEYS) == ["no_id", "too_long"]


def test_a_record_with_too_many_notes_ends_the_file(imports):
    imports.put("a.xml", "<R>" + "<n>x</n>" * 10_001 + "</R>")
    (bad,) = imports.all("xml", note="n")
    assert bad.reason == "too_long"


def test_a_declared_encoding_is_taken_before_the_headers(imports):
    raw = "<?xml version='1.0' encoding='utf-8'?><n>“Köln”</n>".encode("cp1252")
    imports.put("a.xml", raw)
    (found,) = imports.all("xml", note="n", encoding="windows-1252")
    assert (found.text, found.encoding_from) == ("“Köln”", "declared")


def test_a_large_file_is_read_record_by_record_and_on_from_any(imports):
    records = "".join(
        f'<RECORD ID="{n}"><TEXT>n\u00e4 &amp; {n} {"x" * 300}</TEXT></RECORD>\r\n'
        for n in range(1500)
    )
    raw = f"<ROOT>{records}</ROOT>".encode()
    imports.put("a.xml", raw)
    whole = imports.all("xml", **KEYS)
    assert len(whole) == 1500
    first, behind = whole[1400].original_range(1, 4)
    assert raw[first:behind].decode() == "\u00e4 &amp;"
    after = whole[1400].position
    assert imports.all("xml", after=after, **KEYS) == whole[1401:]


@pytest.mark.parametrize(
    "keys",
    [
        {"note": "x:TEXT"},
        {"note": "a//b"},
        {"note": ""},
        {"note": "n", "id": "a@b"},
        {"note": "n", "fields": {"Day": "d"}},
        {"note": "n", "files": ["../x"]},
        {"note": "n", "files": ["/x"]},
        {"note": "n", "unknown": 1},
        {"note": "n", "max_characters": 0},
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(imports, keys):
    with pytest.raises(ValidationError):
        imports.source("xml", **keys)
