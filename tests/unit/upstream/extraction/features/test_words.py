"""HIDE's expressions and affixes, as its tables have them and their slips corrected."""

import pytest

from upstream.extraction.features.words import (
    affix_attributes,
    pattern_attributes,
    shape,
)


@pytest.mark.parametrize(
    ("word", "has", "has_not"),
    [
        ("HISTORY", {"ALPHA", "ALLCAPS", "INITCAPS"}, {"NUMBER", "MIXEDCAPS"}),
        ("56", {"NUMBER", "DOUBLEDIGIT", "REALNUMBER"}, {"ALPHA", "SINGLEDIGIT"}),
        ("O'Neill", {"HASQUOTE", "INITCAPS"}, {"UPPER-LOWER", "ALPHA"}),
        ("McDonald", {"MIXEDCAPS", "UPPER-LOWER"}, {"ALLCAPS"}),
        ("12,500.5%", {"REALNUMBER", "ENDPERCENT"}, {"NUMBER"}),
        ("-3", {"STARTMINUS", "REALNUMBER", "HASDASH"}, {"NUMBER"}),
        ("+34", {"STARTPLUS", "REALNUMBER"}, set()),
        ("B12", {"LETTERS_NUMBERS", "LETTER_DIGIT"}, {"DIGIT_LETTER"}),
        ("12mg", {"NUMBERS_LETTERS", "DIGIT_LETTER"}, {"LETTER_DIGIT"}),
        ("6/22", {"HASSLASH", "HASDIGIT"}, {"NUMBER"}),
        ("IV", {"ROMAN", "ALLCAPS"}, set()),
        ("(", {"ISPUNCT"}, {"ALPHA"}),
        ("Álvarez", {"INITCAPS", "UPPER-LOWER", "ALPHA"}, {"ISPUNCT"}),
    ],
)
def test_a_word_has_the_expressions_that_it_is_written_in(word, has, has_not):
    found = set(pattern_attributes(word))
    assert has <= found
    assert not has_not & found


def test_affixes_are_those_of_table_4_1_with_its_slip_corrected():
    assert affix_attributes("diagnosis") == (
        *("PRE1=d", "PRE2=di", "PRE3=dia"),
        *("SUF1=s", "SUF2=is", "SUF3=sis"),
    )
    assert {"PRE1=5", "SUF1=6"} <= set(affix_attributes("56"))


def test_shapes_tell_lengths_of_numbers_and_not_of_words():
    assert shape("Hospital") == shape("Clinica")
    assert shape("28013") != shape("2801")
