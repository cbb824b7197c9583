"""The tokens of a text without case and accents."""

import pytest

from upstream.linkage.loop.matching.keys import Gaps, Keys
from upstream.linkage.loop.matching.words import folded, words_of


@pytest.mark.parametrize(
    ("word", "letters"),
    [
        *(("ÅNGSTRÖM", "angstrom"), ("Łódź", "lodz"), ("Straße", "strasse")),
        *(("Æsir", "aesir"), ("İ", "i"), ("ﬁn", "fin"), ("-", ""), ("_", "")),
        ("a" * 41, ""),
    ],
)
def test_case_and_accents_are_folded(word, letters):
    assert folded(word) == letters


@pytest.mark.parametrize(
    ("text", "is_cased"),
    [
        ("Seen by Lee", True),
        ("SEEN BY LEE", False),
        ("seen by lee", False),
        ("", False),
    ],
)
def test_a_text_in_one_case_has_no_capitals_that_say_anything(text, is_cased):
    assert words_of(text).is_cased is is_cased


def test_the_word_before_is_not_over_a_blank_line():
    words = words_of("Mr. Lee\n\nMr.\nKim")
    assert words.raw[words.before(2)] == "Mr"
    assert words.before(0) == -1
    assert words.raw[words.before(5)] == "Mr"
    assert words.before(3) == -1


def test_a_key_begins_and_ends_with_its_own_letters():
    keys = Keys(["munoz", "munozkowalski"], Gaps("-", 0))
    assert keys.longest(words_of("Munoz-Kowalski-"), 0) == ("munozkowalski", 3)
    assert keys.longest(words_of("Munoz-x"), 0) == ("munoz", 1)
    assert keys.longest(words_of("Munoz Kowalski"), 0) == ("munoz", 1)
    assert keys.longest(words_of("Mu-\nnoz"), 0) == ("munoz", 3)
    assert keys.longest(words_of("Mu -noz"), 0) is None
