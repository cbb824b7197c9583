"""Patterns, against Python's own regular expressions on every short text."""

import re
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from query_lang.syntax.automata import MOST_STATES, has_few_states
from query_lang.syntax.patterns import (
    MOST_CHARACTERS,
    MOST_PLACES,
    Choice,
    PatternError,
    like_escaped,
    like_pattern,
    places,
    regular_pattern,
    similar_pattern,
    written,
)

SHORT = ["".join(letters) for n in range(5) for letters in product("aB\n", repeat=n)]
TEXTS = (*SHORT, "é", "aé", "A", "ab", "b1", "_", "a.b", "^", "$a")
FLAGS = re.ASCII | re.DOTALL


def matching(pattern, texts=TEXTS):
    """Return the texts that what was written of a pattern matches whole."""
    plain = re.sub(
        r"\\x\{([0-9a-f]+)\}",
        lambda found: re.escape(chr(int(found[1], 16))),
        written(pattern),
    )
    return [text for text in texts if re.fullmatch(plain, text)]


atoms = st.sampled_from(
    ("a", "B", ".", "[aB]", "[^a]", r"\d", r"\W", r"\.", "é", "[B-b]", r"[\n-]")
)
pieces = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(("*", "+?", "?", "{2}", "{1,2}", "{1,}"))).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=5,
)
wholes = st.lists(
    st.tuples(st.sampled_from(("^", "")), pieces, st.sampled_from(("$", ""))).map(
        "".join
    ),
    min_size=1,
    max_size=2,
).map("|".join)


@settings(max_examples=60, deadline=None)
@given(wholes, st.booleans())
def test_a_regular_expression_matches_what_it_matches_elsewhere(text, folds):
    pattern = regular_pattern(text, folds=folds)
    flags = FLAGS | (re.IGNORECASE if folds else 0)
    elsewhere = re.compile(text.replace("$", r"\Z"), flags)
    small = str.maketrans("AB", "ab")
    texts = {t: t.translate(small) if folds else t for t in TEXTS}
    matched = set(matching(pattern, tuple(texts.values())))
    expected = [t for t in texts if elsewhere.search(t)]
    assert [t for t, read in texts.items() if read in matched] == expected


@settings(max_examples=60, deadline=None)
@given(wholes)
def test_what_is_written_of_a_pattern_is_read_as_that_pattern(text):
    pattern = regular_pattern(text)
    whole = f"^(?:{written(pattern)})$"
    assume(len(whole) <= MOST_CHARACTERS)  # repetitions within each other are long
    again = regular_pattern(whole)
    assert written(again) == written(pattern)
    assert "'" not in written(pattern)
    assert written(pattern).isascii()


@pytest.mark.parametrize(
    ("pattern", "text", "is_held"),
    [
        ("a%", "a", True),
        ("a%", "ba", False),
        ("_", "é", True),
        ("_", "\n", True),
        ("_", "", False),
        ("%a%b", "xaxxb", True),
        ("%a%b", "bxa", False),
        (r"\%_", "%x", True),
        (r"\%_", "xx", False),
        (r"\\", "\\", True),
        ("", "", True),
        ("%%", "", True),
        ("A.*", "A.*", True),
        ("A.*", "Axx", False),
    ],
)
def test_like_is_of_the_whole_text(pattern, text, is_held):
    assert (matching(like_pattern(pattern), (text,)) == [text]) is is_held


def test_an_escape_sign_becomes_a_backslash():
    assert like_escaped("a!%!!_\\", "!") == r"a\%!_\\"
    assert like_escaped("a\\", "") == "a\\\\"
    with pytest.raises(PatternError):
        like_escaped("a!", "!")


def test_similar_to_is_of_the_whole_text():
    pattern = similar_pattern("(a|B)%_$")
    assert matching(pattern, ("a$", "Bx$", "xB$x", "aB\nx$")) == ["Bx$", "aB\nx$"]


@pytest.mark.parametrize(
    "text",
    [
        *("(a", "a)", "[a", "[]", "a**", "*a", "a{", "a{2", "a{3,2}", "a{101}", "{2}"),
        *("a^", "$a", "(^a)", r"\b", r"\1", r"\pL", "\\", "(?=a)", "(?P<n>a)", "[b-a]"),
        *("[[:word:]]", r"[\d-z]", r"[^\s\S]", r"\x{d800}", r"\x{}", r"\é", "(" * 11),
        *("a" * 501, "(a{100}){4}"),
    ],
)
def test_what_is_left_out_is_refused_in_words(text):
    with pytest.raises(PatternError) as refused:
        regular_pattern(text)
    assert str(refused.value)


@pytest.mark.parametrize(
    ("text", "is_few"),
    [
        ("E1[0-4]", True),
        (r"^[A-Z]\d{2}(\.\d{1,4})?$", True),
        ("(foo|bar).*(qux|quux)", True),
        ("^(a|b)*a(a|b){6}$", True),  # 2**7 sets
        ("^(a|b)*a(a|b){8}$", False),  # 2**9
        ("a.{30}", False),
        ("^.{99}a", True),
        ("b.{0,20}c", False),  # as .{20}: each place leads to the next alone
        ("^(([ab].{0,12})*){0,20}$", False),
        ("b.{0,4}c", True),
        (f"[{''.join(map(chr, range(0x10000, 0x10400, 4)))}]{{5}}x", True),
        (f"[{''.join(map(chr, range(0x10000, 0x90000, 0x1041)))}].{{5}}x", False),
    ],
)
def test_a_pattern_whose_time_is_no_multiple_of_the_text_is_told(text, is_few):
    assert has_few_states(regular_pattern(text)) is is_few


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("(fever|cough)", "fever|cough"),
        ("^(E10|E11)", "^E10|^E11"),
        ("(\\.0|x)$", "\\.0$|x$"),
        ("((a|b)|c)|d", "a|b|c|d"),
        ("(a|)", "a|"),
    ],
)
def test_brackets_that_change_nothing_are_opened(text, same):
    """So that each alternative is a plain test, not part of an automaton."""
    assert regular_pattern(text) == regular_pattern(same)


@pytest.mark.parametrize("text", ["(a|b)c", "(a|b)+", "(a|[bc])", "(a|b|c|d|e)"])
def test_other_brackets_stay(text):
    assert not isinstance(regular_pattern(text), Choice)


def test_as_many_states_as_there_may_be():
    """A row of n characters has n sets of places, and that of no place at all."""
    assert has_few_states(regular_pattern(f"^{'a' * (MOST_STATES - 1)}$"))
    assert not has_few_states(regular_pattern(f"^{'a' * MOST_STATES}$"))


def test_repetitions_count_as_often_as_they_are_written_out():
    assert places(regular_pattern("^(ab){3}c{2,4}d{2,}$")) == 3 * 3 + 4 + 3 + 1
    with pytest.raises(PatternError):
        regular_pattern("a{100}" * (MOST_PLACES // 100))
