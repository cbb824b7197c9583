import unicodedata

import duckdb
import pytest

from upstream.staging.canonical import (
    MOST_ID_BYTES,
    WHITE_SPACE,
    UnitIdError,
    canonical_unit_id,
    plain_id_sql,
    plain_sql,
)

HOSTILE = [
    "7", "007", "+7", "-7", "-0", "+0", "0" * 40 + "7", " 7", "7\t", "7 7", "7.0",
    "1e3", "1_0", "0x7", "+", "-", "+-7", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "9" * 40, "\u0667", "\uff17", "",
    " ", "\u3000", "\u200b", "a", "A", "a b", " a ", "\u2003a\u2029", "\xa0a\x85",
    "e\u0301", "\xe9", "\ufb01", "\u212b", "\xc5", "\u1100\u1161", "\uac00", "a\x00",
    "\x00", "\x1fa\x1f", "\x1c", "it's", '"q"', "~", "!", "\x7f", "\ufeffa", "\u180ea",
    "\u1d15e", "\u0344", "a" * 1000, "\u2000a", "\u1fef", "a" * 3000,
]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "spelled"),
    [("007", "7"), (" +7\u3000", "7"), ("-0", "0"), ("-9223372036854775808",) * 2],
)
def test_integer_ids_have_one_spelling(raw, spelled):
    assert canonical_unit_id(raw, "integer") == spelled


@pytest.mark.parametrize("raw", ["9223372036854775808", "7.0", "a", "1_0", "\u0667"])
def test_an_integer_id_beyond_64_bits_or_off_the_grammar_is_refused(raw):
    with pytest.raises(UnitIdError):
        canonical_unit_id(raw, "integer")


def test_text_ids_are_trimmed_and_normalised_but_not_folded():
    assert canonical_unit_id("\u2003e\u0301 ", "text") == "\xe9"
    assert canonical_unit_id("007", "text") == "007"
    assert canonical_unit_id("a", "text") != canonical_unit_id("A", "text")
    assert canonical_unit_id("\u200ba", "text") == "\u200ba"  # no White_Space


@pytest.mark.parametrize("raw", [None, "", " ", "\u3000\x85\t"])
@pytest.mark.parametrize("unit_type", ["integer", "text"])
def test_an_id_of_white_space_is_no_unit(raw, unit_type):
    assert canonical_unit_id(raw, unit_type) is None


def test_white_space_is_pythons_but_for_the_separators_that_unicode_leaves_out():
    every = {chr(i) for i in range(0x110000) if chr(i).isspace()}
    assert every - set(WHITE_SPACE) == set("\x1c\x1d\x1e\x1f")
    assert set(WHITE_SPACE) <= every


@pytest.mark.parametrize("unit_type", ["integer", "text"])
def test_where_sql_spells_an_id_it_spells_it_as_python_does(unit_type):
    rows = (
        duckdb.connect()
        .sql(
            f"SELECT r, {plain_sql('r', unit_type)} FROM"
            f" (SELECT unnest(?::VARCHAR[]) r) WHERE {plain_id_sql('r', unit_type)}",
            params=[HOSTILE],
        )
        .fetchall()
    )
    assert len(rows) >= 5
    for raw, spelled in rows:
        assert canonical_unit_id(raw, unit_type) == spelled


def test_a_spelling_is_its_own_spelling():
    for raw in (raw for raw in HOSTILE if len(raw) <= MOST_ID_BYTES):
        spelled = canonical_unit_id(raw, "text")
        if spelled is not None:
            assert canonical_unit_id(spelled, "text") == spelled
            assert unicodedata.is_normalized("NFC", spelled)
