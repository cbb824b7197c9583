"""An id is found however it is written, and what is no id is not taken for one."""

import string
import unicodedata

import duckdb
import pytest
from duckdb.func import SPECIAL
from duckdb.sqltypes import VARCHAR
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.id_forms.loose_ids import (
    FUNCTIONS,
    MOST_WORDS,
    certain_forms,
    forms_sql,
    id_forms,
    text_forms,
)
from upstream.manifests.declarations import FOLDS
from upstream.staging.canonical import canonical_unit_id, folded_unit_id

DIGITS = [
    "".join(chr(first + i) for i in range(10))
    for first in (0xFF10, 0x0660, 0x0966, 0x1D7CE)
]
BLANKS = [" ", "\t", "\u00a0", "\u202f", "\ufeff", "\u200b", "\u2060", "\x00"]
DASHES = ["-", "\u2010", "\u2011", "\u2013", "\uff0d", "_", "/"]
THOUSANDS = [",", ".", "'", "\u2019", " ", "\u202f", "\uff0c", "\u066c"]


def is_named(written, uid):
    """Return whether a public text shares a form with an id."""
    return bool(set(text_forms(written)) & set(id_forms(uid)))


def grouped(number, mark):
    return f"{int(number):,}".replace(",", mark)


def scientific(number, letter):
    tail = number[1:].rstrip("0")
    return f"{number[0]}.{tail or '0'}{letter}+{len(number) - 1:02}"


@st.composite
def spelled_numbers(draw):
    """Return an id of digits and what a program or a person may make of it."""
    number = str(draw(st.integers(1, 10**15)))
    kind = draw(st.sampled_from(["plain", "groups", "dashes", "scientific"]))
    if kind == "groups":
        written = grouped(number, draw(st.sampled_from(THOUSANDS)))
    elif kind == "dashes" and len(number) >= 7:
        cut = draw(st.integers(1, len(number) - 1))
        written = number[:cut] + draw(st.sampled_from(DASHES)) + number[cut:]
    elif kind == "scientific":
        written = scientific(number, draw(st.sampled_from("eE")))
    else:
        written = draw(st.sampled_from(["", "0", "000"])) + number
    if kind in ("plain", "scientific"):
        written = draw(st.sampled_from(["", "+", "-", "\u2212"])) + written
    if kind == "plain":
        written += draw(st.sampled_from(["", ".0", ".00", ",0", "."]))
    written = written.translate(
        str.maketrans(string.digits, draw(st.sampled_from([*DIGITS, string.digits])))
    )
    around = st.sampled_from(["", *BLANKS, "'", '"', "\u00b4"])
    return number, draw(around) + written + draw(around)


@settings(deadline=None, max_examples=400)
@given(spelled_numbers(), st.sampled_from(["integer", "text"]))
def test_a_number_is_found_in_every_spelling(spelled, unit_type):
    number, written = spelled
    uid = canonical_unit_id(number, unit_type)
    assert is_named(written, uid)
    assert is_named(number, written.strip())  # where the id itself was written so


@st.composite
def spelled_ids(draw):
    """Return an id of letters and digits, and another spelling of it."""
    head = draw(st.text("APXZ", min_size=1, max_size=3))
    digits = draw(st.text(string.digits, min_size=1, max_size=8))
    uid = head + digits
    joint = draw(st.sampled_from(["", *BLANKS, *DASHES, ".", ":", "#"]))
    zeros = draw(st.sampled_from(["", "0", "00"]))
    written = head + joint + zeros + digits
    written = draw(st.sampled_from([str, str.lower, str.title]))(written)
    if draw(st.booleans()):
        written = "".join(
            chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in written
        )
    return uid, draw(st.sampled_from(["", *BLANKS, "'"])) + written


@settings(deadline=None, max_examples=400)
@given(spelled_ids())
def test_an_id_with_letters_is_found_in_every_spelling(spelled):
    uid, written = spelled
    assert is_named(written, uid)


@pytest.mark.parametrize(
    ("written", "uid"),
    [
        ("1000007.0", "1000007"), ("1.000007E+06", "1000007"),
        ("1,000,007.00", "1000007"), ("10,00,007", "1000007"),
        ('="1000007"', "1000007"), ("-7", "-7"), ("7", "-7"),
        ("Patient/1000007", "1000007"), ("urn:mrn:1000007", "1000007"),
        ("https://h.org/Patient?id=1000007", "1000007"),
        ("010042", "01-0042"), ("1.0042", "01.0042"), ("12345678K", "12.345.678-K"),
        ("550E8400E29B41D4", "550e8400-e29b-41d4"), ("1000007", "1000007.0"),
        ("\u0662\u0663", "23"), ("\u2460\u2461", "12"), ("\u00bd", "1/2"),
    ],
)  # fmt: skip
def test_spellings_that_programs_make_are_found(written, uid):
    assert is_named(written, uid)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0-4", "4"), ("10-14", "1014"), ("2020-2024", "2020"), ("001-139", "1139"),
        ("100-199", "100199"), ("2024-01-05", "20240105"), ("05.01.2024", "5012024"),
        ("1/5/2024", "152024"), ("12.5", "125"), ("0.05", "5"), ("E11.9", "119"),
        ("2E02", "200"), ("1E3", "1000"), ("10:30", "1030"), ("1.2.3", "123"),
        ("12345-6", "123456"), ("ward/7", "7"), ("A10BA02", "1002"), ("<=5.5", "55"),
        ("1.5E+00", "15"), ("1e+30", "1" + "0" * 30),
    ],
)  # fmt: skip
def test_ranges_dates_and_codes_are_no_numbers(text, number):
    assert number not in text_forms(text)


@pytest.mark.parametrize(
    ("text", "uid"),
    [("E11.9", "E119"), ("E11.311", "E11311"), ("S1-3", "S13"), ("K12.34", "K1234")],
)
def test_codes_with_letters_are_no_ids_of_their_letters_and_digits(text, uid):
    assert not is_named(text, uid)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_a_text_has_few_forms_and_the_first_is_kept(text):
    for forms in (id_forms, text_forms):
        found = forms(text)
        assert len(found) <= 3 * (1 + MOST_WORDS)
        assert len(set(found)) == len(found)
        assert not any(unicodedata.category(c)[0] in "ZC" for f in found for c in f)
    assert set(text_forms(text)[:1]) == set(id_forms(text)[:1])


@settings(deadline=None)
@given(st.text(max_size=12), st.lists(st.sampled_from(FOLDS), unique=True))
def test_ids_that_a_fold_joins_share_a_form(raw, folds):
    uid = canonical_unit_id(raw, "text")
    folded = None if uid is None else folded_unit_id(uid, folds)
    if folded is not None and id_forms(uid):
        assert set(id_forms(uid)) & set(id_forms(folded))


def test_of_a_long_text_the_first_words_are_looked_at():
    assert id_forms("7" * 1_000) == ["7" * 1_000]
    assert len(text_forms("7" * 100_000)[0]) == 2_000
    many = " ".join(f"P{i:05}" for i in range(10_000))
    assert len(text_forms(many)) == 1 + MOST_WORDS


@pytest.mark.parametrize(
    ("text", "uids"),
    [
        ("P00100;x", ["P00100"]), ("MRN:P00100 (closed)", ["P00100"]),
        ("P00100;p00101|P-00102", ["P00100", "P00101", "P00102"]),
        ("10115 Berlin", ["10115"]), ("see 1000007, 1000008", ["1000007", "1000008"]),
    ],
)  # fmt: skip
def test_ids_among_other_words_are_found(text, uids):
    assert all(is_named(text, uid) for uid in uids)


@pytest.mark.parametrize("text", ["ward 7 b", "stage 2/3", "P7 and P8", "1;2;3", "a:b"])
def test_short_words_are_not_taken_for_ids(text):
    assert len(text_forms(text)) == 1


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        for name, function in FUNCTIONS.items():
            connection.create_function(
                name, function, [VARCHAR], VARCHAR, null_handling=SPECIAL
            )
        yield connection


ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)


@pytest.mark.long
@settings(deadline=None, max_examples=60)
@given(st.lists(ASCII | st.text("0a1P -.", max_size=8), min_size=20, max_size=40))
def test_sql_finds_the_forms_that_python_finds(connection, texts):
    assert_same_forms(connection, texts)


DECIMALS = [
    "0.5", "00.50", "-012.53", "1.007", "12.5007", "1000007.00", "1000.007", "7.",
    "0.0", "-0.001", "0.1200", "1234567.8", "12.345678", "123456.789", "-.5",
]  # fmt: skip


def test_sql_finds_the_forms_of_decimals_that_python_finds(connection):
    assert_same_forms(connection, DECIMALS)


FORMS = {"id_forms": id_forms, "text_forms": text_forms, "certain_forms": certain_forms}


def assert_same_forms(connection, texts):
    for function, python in FORMS.items():
        rows = connection.execute(
            f"SELECT t, {forms_sql('t', function)} "
            "FROM (SELECT unnest(?::VARCHAR[]) AS t)",
            [texts],
        ).fetchall()
        for text, forms in rows:
            assert [form for form in forms if form] == python(text), text
