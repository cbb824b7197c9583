"""Texts, rewritten by a profile."""

import random

import pytest

from upstream.anonymization.texts.deidentifying import (
    Deidentifier,
    Patient,
    Replacement,
)
from upstream.anonymization.texts.keyed import KeyedChoice
from upstream.anonymization.texts.kinds import Kind, kinds_of
from upstream.anonymization.texts.lists import LISTS
from upstream.anonymization.texts.names import NameSurrogates
from upstream.anonymization.texts.profiles import Action, profile
from upstream.anonymization.texts.surrogates import Surrogates
from upstream.anonymization.texts.written_dates import DateReading
from upstream.extraction.text.spans import Span

TYPES = ["NAME", "DATE", "DOB", "AGE", "PHONE", "CITY", "ZIP", "MRN", "FALL"]
KINDS = kinds_of(TYPES, {"FALL": "none"})
TEXT = "Ada Stone, 93, of Atlanta 30322, born 5 May 1931, seen 3 June 2024; MRN 60-71."
SPANS = [
    Span(0, 9, "NAME"),
    Span(11, 13, "AGE"),
    Span(18, 25, "CITY"),
    Span(26, 31, "ZIP"),
    Span(38, 48, "DOB"),
    Span(55, 66, "DATE"),
    Span(72, 77, "MRN"),
]


def by(name, replacement="tag", **more):
    return Deidentifier(profile(name, replacement), KINDS, **more)


def patient(name="p1", days=-40, names=("Ada Stone",), **generalized):
    choice = KeyedChoice(b"k" * 32, name)
    own = Surrogates(choice, NameSurrogates.of(choice, LISTS, names))
    return Patient(own, days, {Kind(kind): told for kind, told in generalized.items()})


def test_full_tags_all():
    told = by("full").rewrite(TEXT, SPANS, Patient()).text
    assert told == (
        "[NAME], [AGE], of [CITY] [ZIP], born [DOB], seen [DATE]; MRN [MRN]."
    )


def test_partial_keeps_what_narrows_down():
    told = by("partial").rewrite(TEXT, SPANS, Patient())
    assert told.text == (
        "[NAME], 93, of Atlanta 30322, born 5 May 1931, seen 3 June 2024; MRN [MRN]."
    )
    assert [one.label for one in told.replacements] == ["NAME", "MRN"]


def test_safe_harbor_keeps_years_and_three_digits_but_tells_no_age_above_89():
    own = by("safe_harbor", today=2024)
    assert own.rewrite(TEXT, SPANS, Patient()).text == (
        "[NAME], 90 or older, of [CITY] 303, born [DOB], seen 2024; MRN [MRN]."
    )
    born = [Span(0, 10, "DOB")]
    assert own.rewrite("5 May 1934", born, Patient()).text == "[DOB]"  # 89 or 90
    assert own.rewrite("5 May 1935", born, Patient()).text == "1935"
    assert by("safe_harbor").rewrite("5 May 1935", born, Patient()).text == "[DOB]"


def test_statistical_writes_what_the_anonymized_table_has_of_the_patient():
    own = patient(
        age={"93": "[90-99]", "94": "no"},
        place={"Atlanta": "Georgia"},
        date={"3 June 2024": "2024"},
        zip={"30323": "other ones are tagged"},
    )
    told = by("statistical").rewrite(TEXT, SPANS, own)
    assert told.text == (
        "[NAME], [90-99], of Georgia [ZIP], born [BIRTH_DATE], seen 2024; MRN [MRN]."
    )  # tags by kind: types of one kind would part who is alike
    lost = [one.label for one in told.replacements if one.is_tagged]
    assert lost == ["ZIP", "DOB"]


def test_surrogates_are_of_the_same_form_and_dates_keep_their_intervals():
    told = by("full", "surrogate").rewrite(TEXT, SPANS, patient()).text
    assert "born 26 March 1931, seen 24 April 2024" in told
    for old in ("Ada", "Stone", "Atlanta", "30322", "60-71"):
        assert old not in told
    assert "[AGE]" in told


def test_without_a_surrogate_or_days_it_is_tagged_and_said():
    told = by("full", "surrogate").rewrite(TEXT, SPANS, Patient())
    assert "[NAME]" in told.text
    assert "[DATE]" in told.text
    assert [one.is_tagged for one in told.replacements] == [
        one.action is not Action.TAG for one in told.replacements
    ]


def test_overlapping_spans_are_one_and_the_strictest_action_is_done():
    told = by("partial").rewrite(
        "Ada 56 x", [Span(0, 5, "NAME"), Span(4, 6, "AGE")], Patient()
    )
    assert told.text == "[NAME] x"
    assert told.replacements == (
        Replacement(0, 6, "NAME", Kind.NAME, Action.TAG, is_tagged=False, new="[NAME]"),
    )
    same = by("full").rewrite(
        "Ada Bo", [Span(0, 5, "NAME"), Span(2, 6, "NAME")], Patient()
    )
    assert same.text == "[NAME]"


def test_types_that_identify_nobody_stay_and_unknown_ones_are_refused():
    spans = [Span(0, 3, "FALL")]
    assert by("full").rewrite("fell", spans, Patient()).text == "fell"
    with pytest.raises(KeyError):
        by("full").rewrite("fell", [Span(0, 3, "ZOO")], Patient())


@pytest.mark.parametrize("name", ["full", "safe_harbor", "statistical"])
@pytest.mark.parametrize("replacement", ["tag", "surrogate"])
def test_no_character_of_a_span_is_kept_by_accident_and_the_rest_stays(
    name, replacement
):
    rng = random.Random(f"{name} {replacement}")
    own = by(name, replacement, reading=DateReading("day_first", 2030))
    for _ in range(300):
        text = "".join(rng.choice("QZ719 .-/") for _ in range(40))
        spans = []
        for _ in range(rng.randrange(5)):
            start = rng.randrange(39)
            end = rng.randrange(start + 1, 41)
            spans.append(Span(start, end, rng.choice(TYPES[:-1])))
        told = own.rewrite(text, spans, patient(names=[text]))
        covered = {at for span in spans for at in range(span.start, span.end)}
        at, rest = 0, ""
        for one in told.replacements:
            assert set(range(one.start, one.end)) <= covered
            rest += text[at : one.start]
            at = one.end
            if any(map(str.isalnum, text[one.start : one.end])):
                is_cut = one.action in {Action.YEAR, Action.TOP_CODE, Action.ZIP3}
                assert is_cut or one.new != text[one.start : one.end]
        rest += text[at:]
        assert rest == "".join(c for i, c in enumerate(text) if i not in covered)
