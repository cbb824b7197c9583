"""Health terms, their meanings, and whether they are denied."""

import pytest

from upstream.extraction.terms.negation import REACH
from upstream.extraction.terms.terms import TermFinder, Terminology, read_terminology

SYMPTOMS = Terminology(
    "SYMPTOM",
    {
        "fever": "fever",
        "chill": "chills",
        "abdomen pain": "abdominal pain",
        "abdominal pain": "abdominal pain",
        "fatigue": "fatigue",
        "cough": "cough",
        "fiebre": "fever",
        "dolor abdominal": "abdominal pain",
    },
)


def found(text):
    return {
        (term.meaning, term.is_denied) for term in TermFinder([SYMPTOMS]).find(text)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No fever.", {("fever", True)}),
        ("Fever since Monday.", {("fever", False)}),
        ("Denies fever, chills or cough.", "fever chills cough"),
        ("Denies fever but has a cough", {("fever", True), ("cough", False)}),
        ("Fever was ruled out. Cough.", {("fever", True), ("cough", False)}),
        ("Not only fever, also cough", {("fever", False), ("cough", False)}),
        ("No increase in cough", {("cough", False)}),
        ("Temp 38.5 without\nfever", {("fever", True)}),
        ("Sin fiebre ni dolor abdominal.", "fever,abdominal pain"),
        ("Refiere fiebre, niega dolor abdominal", None),
        ("No evidence of infection. Fever persists.", {("fever", False)}),
    ],
)
def test_what_is_denied_is_told_from_what_is_so(text, expected):
    if isinstance(expected, str):
        separator = "," if "," in expected else " "
        expected = {(meaning, True) for meaning in expected.split(separator)}
    elif expected is None:
        expected = {("fever", False), ("abdominal pain", True)}
    assert found(text) == expected


def test_a_denial_reaches_a_number_of_tokens_and_no_further():
    near = "no " + "word " * (REACH - 1) + "fever"
    far = "no " + "word " * REACH + "fever"
    assert found(near) == {("fever", True)}
    assert found(far) == {("fever", False)}


def test_phrases_of_the_dast_notes_are_found_as_they_are_written():
    """Note 4 says pain on right side of abdomen, which is no phrase of the list."""
    notes = [
        "17 m, pain on right side of abdomen, fatigue, dark urine",
        "64 f, abdomen pain, sore muscles, fatigue, jaundice",
    ]
    assert found(notes[0]) == {("fatigue", False)}
    assert found(notes[1]) == {("abdominal pain", False), ("fatigue", False)}


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("on aspirin 81 mg daily", "MEDICATION", "aspirin 81 mg"),
        ("insulin 10 units", "MEDICATION", "insulin 10 units"),
        ("glucose 169 mg/dl today", "MEASUREMENT", "glucose 169 mg/dl"),
        ("BP: 120/80 mmHg", "MEASUREMENT", "BP: 120/80 mmHg"),
    ],
)
def test_doses_and_measurements_are_found_by_their_form(text, kind, said):
    (term,) = TermFinder([]).find(text)
    assert (term.span.label, text[term.span.start : term.span.end]) == (kind, said)


def test_a_file_of_terms_is_one_a_line_or_phrases_with_meanings(tmp_path):
    path = tmp_path / "symptoms.csv"
    path.write_text('# ours\nfever,R50.9\n\n\'cough\n"pain, joint",M25.5\n')
    read = read_terminology(path, "SYMPTOM")
    assert read.meanings == {
        "fever": "R50.9",
        "'cough": "'cough",
        "pain, joint": "M25.5",
    }


@pytest.mark.parametrize("content", ["", "# none\n", "fever,a\nfever,b\n"])
def test_a_file_without_terms_or_with_two_meanings_is_refused(tmp_path, content):
    path = tmp_path / "symptoms.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"no term|two things"):
        read_terminology(path, "SYMPTOM")
