"""HL7 v2: reports of messages, escapes, batches, and what is set aside."""

import hl7
import pytest
from pydantic import ValidationError

from upstream.extraction.reading.decoding.encodings import decode
from upstream.extraction.reading.decoding.hl7_messages import Message

MSH = "MSH|^~\\&|LAB|H|EHR|H|20240102||ORU^R01|m17|P|2.5"
PID = "PID|1||123^^^HOSP^MR~456||Doe^Jane||19700102|F"
OBR = "OBR|1|||RAD|||20240103"


def message(*segments, msh=MSH, end="\r"):
    return end.join([msh, PID, OBR, *segments, ""])


def obx(value, kind="TX", number=1):
    return f"OBX|{number}|{kind}|R||{value}|||||||||20240104"


def test_texts_of_one_report_are_joined_by_line_breaks(imports):
    imports.put(
        "a.hl7", message(obx("Köln"), obx("7", "NM"), obx("left", "FT"), obx(""))
    )
    (found,) = imports.all("hl7")
    assert (found.id, found.text) == ("m17", "Köln\nleft\n")
    assert found.fields == {
        "message": "m17",
        "patient": "123",
        "birth_date": "19700102",
        "date": "20240103",
    }
    assert found.place.item == "message 1, report 1"


def test_each_obr_is_a_report_and_comments_belong_to_it(imports):
    second = ["OBR|2|||LAB", obx("second", "ST"), "NTE|1||why~not"]
    imports.put("a.hl7", message(obx("first"), *second))
    found = imports.all("hl7")
    assert [(each.id, each.text) for each in found] == [
        ("m17", "first"),
        ("m17/2", "second\nwhy\nnot"),
    ]
    assert found[1].fields["date"] == "20240104"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"a\.br\b", "a\nb"),
        (r"a\.sp2\b\.sk3\c\.in4\d", "a\n\nb   cd"),
        (r"\F\\S\\T\\R\\E\ ".strip(), "|^&~\\"),
        (r"caf\XC3A9\ \X41\ ".strip(), "café A"),
        (r"\H\bold\N\ ".strip(), "bold"),
        (r"a^b&c", "a^b&c"),
        (r"C:\temp and \Zno\ ".strip(), r"C:\temp and \Zno" + "\\"),
        (r"\XZZ\ \X4\ \.sp9999\ ".strip(), r"\XZZ\ \X4\ \.sp9999" + "\\"),
        ("one~two", "one\ntwo"),
    ],
)
def test_escapes_are_written_out_and_others_are_kept(imports, written, text):
    imports.put("a.hl7", message(obx(written, "FT")))
    (found,) = imports.all("hl7")
    assert found.text == text


def test_an_escape_is_the_place_of_all_that_it_stands_for(imports):
    raw = message(obx(r"Ä\X4142\ö\F\z", "FT")).encode()
    imports.put("a.hl7", raw)
    (found,) = imports.all("hl7")
    assert found.text == "ÄABö|z"

    def original(start, end):
        first, behind = found.original_range(start, end)
        return raw[first:behind].decode()

    assert original(1, 3) == original(1, 2) == original(2, 3) == r"\X4142" + "\\"
    assert original(0, 5) == r"Ä\X4142\ö\F" + "\\"


@pytest.mark.long
def test_escapes_that_stand_for_many_lines_take_no_memory_for_each(imports):
    raw = message(obx("a" + r"\.sp200" + "\\z", "FT"))
    imports.put("a.hl7", raw)
    (found,) = imports.all("hl7")
    assert found.text == "a" + "\n" * 200 + "z"
    assert len(found.pieces) < 10
    first, behind = found.original_range(200, 202)
    assert raw[first:behind] == "z"
    bomb = MSH.replace("m17", "m18") + "\r" + obx((r"\.sp200" + "\\") * 100_000, "FT")
    imports.put("a.hl7", raw + bomb + "\r")
    good, bad = imports.all("hl7")
    assert (good.text, bad.reason) == (found.text, "too_long")


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_batches_and_frames_of_mllp_are_read(imports, end):
    one = message(obx("one"), end=end)
    two = message(obx("two"), msh=MSH.replace("m17", "m18"), end=end)
    head, tail = f"FHS|^~\\&|a{end}BHS|^~\\&|b{end}", f"BTS|2{end}FTS|1{end}"
    imports.put("a.hl7", head + one + two + tail)
    framed = (
        f"\x0b{one.replace('m17', 'm19')}\x1c\r\x0b{two.replace('m18', 'm20')}\x1c\r"
    )
    imports.put("b.hl7", framed)
    expected = {"m17": "one", "m18": "two", "m19": "one", "m20": "two"}
    assert imports.texts("hl7") == expected


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("a note without segments\r", "no_msh"),
        (message(obx("a\nOBX|2|TX|||b")), "bad_structure"),
        (message("no segment"), "bad_structure"),
        (MSH.replace("^~\\&", "^^\\&") + "\r", "bad_structure"),
        (message(obx("x" * 1_100_000)), "too_long"),
        (message(obx("JVBERi0=", "ED")), "other_format"),
        (message(obx("")), "empty"),
        (message(obx("a")).replace("m17", ""), "no_id"),
        (message(obx(r"\X00\ ".strip())), "binary"),
    ],
)
def test_a_bad_message_is_set_aside_and_the_next_is_read(imports, bad, reason):
    good = message(obx("good"), msh=MSH.replace("m17", "m18"))
    imports.put("a.hl7", bad + good)
    found = imports.all("hl7", max_characters=1000)
    assert (found[0].reason, found[1].text) == (reason, "good")
    assert len(found) == 2


def test_a_message_that_comes_again_is_set_aside(imports):
    imports.put("a.hl7", message(obx("one")) * 2)
    assert imports.reasons("hl7") == [None, "duplicate_id"]


def test_msh_18_names_the_encoding_where_none_is_declared(imports):
    msh = MSH + "||||||8859/15"
    imports.put("a.hl7", message(obx("5 €"), msh=msh).encode("iso-8859-15"))
    assert imports.all("hl7")[0].text == "5 €"
    (found,) = imports.all("hl7", encoding="windows-1252")
    assert (found.text, found.encoding_from) == ("5 ¤", "declared")


def test_files_in_utf16_are_set_aside(imports):
    imports.put("a.hl7", message(obx("a")).encode("utf-16"))
    imports.put("b.hl7", message(obx("a")).encode("utf-8-sig"))
    assert imports.reasons("hl7") == ["bad_encoding", None]


def test_a_long_file_is_read_message_by_message_and_on_from_any(imports):
    many = [
        message(obx(f"note {n} ä"), msh=MSH.replace("m17", f"m{n}")) for n in range(900)
    ]
    many[450] = message(obx("x" * 2_000_000))
    imports.put("a.hl7", "".join(many))
    whole = imports.all("hl7", max_characters=10_000)
    assert [getattr(each, "reason", None) for each in whole].count("too_long") == 1
    assert len(whole) == 900
    for number in (0, 449, 450, 451, 898, 899):
        after = whole[number].position
        behind = imports.all("hl7", max_characters=10_000, after=after)
        assert behind == whole[number + 1 :]


def test_fields_are_those_that_the_library_of_hl7_finds():
    text = message(obx(r"a\T\b"), obx("x^y&z~w", number=2), "NTE|1||n")
    ours, theirs = Message(decode(text.encode()), "\r"), hl7.parse(text)
    assert [s.name for s in ours.segments] == [str(s[0]) for s in theirs]
    for segment, known in zip(ours.segments, theirs, strict=True):
        for number in range(1, len(known)):
            start, end = segment.field(number)
            assert text[start:end] == str(known[number])


def test_fields_are_unescaped_and_bytes_that_are_no_utf8_are_latin_1(imports):
    raw = message(obx(r"caf\XE9\ ".strip(), "FT")).replace("123^^^", r"1\T\23^^^")
    imports.put("a.hl7", raw)
    (found,) = imports.all("hl7")
    assert (found.text, found.fields["patient"]) == ("café", "1&23")


def test_a_declaration_in_utf16_is_refused(imports):
    with pytest.raises(ValidationError, match="export them as UTF-8"):
        imports.source("hl7", encoding="utf-16")
