"""Known values in a text: all kinds together, and texts that nobody would write."""

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import upstream.linkage.loop
from tests.effort import rounds
from tests.unit.upstream.linkage.loop.patients import EVERYTHING, FIELDS, TYPES, known
from upstream.linkage.loop.facts import PatientFacts
from upstream.linkage.loop.known import KNOWN, known_spans

NOTE = """\
Patient: MUÑOZ-KOWALSKI, JOSÉ   MRN 05681042   DOB: Oct. 27, 1948
Tel. 663.555.2073, j.munoz@example.org
12 Maple St., Apt 3, Greenville, SC 29601

Mr. Kowlaski weighs 80 kg. Jose
Munoz's wife is well. He will come on 27-Oct-1948 to Greenville General Hospital.
"""


def test_a_note_has_all_that_is_known_each_with_its_type_and_source():
    spans = known_spans(NOTE, EVERYTHING, TYPES)
    assert [(NOTE[span.start : span.end], span.label) for span in spans] == [
        ("MUÑOZ-KOWALSKI, JOSÉ", "NAME"),
        ("05681042", "ID"),
        ("Oct. 27, 1948", "DATE"),
        ("663.555.2073", "PHONE"),
        ("j.munoz@example.org", "EMAIL"),
        ("12 Maple St., Apt 3, Greenville, SC 29601", "PLACE"),
        ("Kowlaski", "NAME"),
        ("Jose\nMunoz", "NAME"),
        ("27-Oct-1948", "DATE"),
    ]
    assert {span.source for span in spans} == {KNOWN}
    assert all(0 < span.score <= 1 for span in spans)


def test_only_fields_that_have_a_type_are_looked_for():
    spans = known_spans(NOTE, EVERYTHING, {"born": "DATE"})
    assert {span.label for span in spans} == {"DATE"}
    assert len(spans) == 2


def test_categories_and_numbers_are_everybodys_and_not_looked_for():
    assert known_spans("F, 80 kg", known(sex="F", weight="80"), TYPES) == ()


@pytest.mark.parametrize(
    "facts", [PatientFacts(), PatientFacts(FIELDS), known(given="", born="", no="")]
)
def test_nothing_is_found_where_nothing_is_known(facts):
    assert known_spans(NOTE, facts, TYPES) == ()
    assert known_spans("", EVERYTHING, TYPES) == ()


PATTERNS = ("(.*)+", "[a-z", "\\", "A|B", "^$", "(?P<x>", "Ann{2,}", "a" * 5_000, "*")


@pytest.mark.parametrize("value", PATTERNS)
def test_values_that_look_like_expressions_are_words_alone(value):
    facts = known(**dict.fromkeys(FIELDS, value))
    assert known_spans("Nothing of this is here: Mary B 12.", facts, TYPES) == ()
    apart(f"Seen {value} and {value}.", facts)


def apart(text, facts):
    """Return what is found; it lies within the text, in order, none over another."""
    spans = known_spans(text, facts, TYPES)
    ends = [0, *(span.end for span in spans)]
    for end, span in zip(ends, spans, strict=False):
        assert end <= span.start < span.end <= len(text)
        said = text[span.start : span.end]
        assert said.strip() == said
    return spans


PARTS = (
    *("José", "jose", "J", "J.", "Mun\u0303oz", "Kowalski", "Kowlaski", "KOWAL-\nSKI"),
    *("O'Brien", "o\u2019brien", "De", "La", "Cruz", "will", "Young", "Grant", "Mr."),
    *("Dr.", "M.D.", "27", "10", "1948", "48", "Oct", "october", "of", "th", "/", "-"),
    *("27/10/1948", "19481027", "663", "555", "2073", "(663)", "+1", "5681042", "0"),
    *("AB", "12345", "Maple", "St", "Street", "Apt", "3", "12", "Greenville", "SC"),
    *("29601", "Troy", "in", "@", "j.munoz@example.org", "Hospital", "'s", "s", "'"),
    *(" ", " ", " ", "\n", "\n\n", "\t", ".", ",", ", ", ":", "", "\0", "\u0301"),
    *("\u2028", "İ", "ﬁ", "ß", "٣", "²", "\U0001d7d9", "_", "ª", "\ud800"),
)


@pytest.mark.long
def test_spans_of_random_notes_lie_apart_and_within_the_text():
    rng = random.Random(5)
    for _ in range(rounds(20_000, 2_000)):
        text = "".join(rng.choices(PARTS, k=rng.randrange(30)))
        apart(text, EVERYTHING)


@settings(max_examples=rounds(2_000, 200), deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=30), max_size=5))
def test_no_value_and_no_text_makes_it_raise(text, values):
    facts = known(**dict.fromkeys(FIELDS, tuple(values)))
    apart(text, facts)
    apart(text.join(values), facts)


LOOP = str(Path(upstream.linkage.loop.__file__).parent)


def steps(text):
    """Return how many lines of the loop's own code run over a text."""
    count = 0

    def local(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return local

    def trace(frame, _event, _argument):
        return local if frame.f_code.co_filename.startswith(LOOP) else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        known_spans(text, EVERYTHING, TYPES)
    finally:
        sys.settrace(before)
    return count


LONG = (
    *("a", " ", "\n", "-", "'", "@", "1", ".", "_", "José ", "J. ", "J ", "De La "),
    *("Muñoz-", "Kowal-\n", "27/10/", "27 Oct ", "Oct ", "1-", "663-", "663 555 ", "0"),
    *("12 Maple ", "Maple ", "Greenville, ", "SC, ", "j.munoz@", "Young, ", "Mr. "),
    *("5", "56 ", "José Muñoz, ", "12 Maple St, Apt 3, ", "Mary "),
)


@pytest.mark.parametrize("part", LONG)
def test_steps_grow_with_the_length_of_the_text_alone(part):
    short, long = (steps(part * (count // len(part))) for count in (1_000, 4_000))
    assert long <= 4.4 * short + 500
    assert long <= 1_500 * 4_000


def test_a_text_without_spaces_and_a_very_long_one_are_no_harm():
    assert known_spans("x" * 1_000_000, EVERYTHING, TYPES) == ()
    text = "José Muñoz was seen. " * 2_000
    assert len(apart(text, EVERYTHING)) == 2_000
