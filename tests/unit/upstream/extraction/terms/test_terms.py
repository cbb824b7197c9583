"""Health terms, their meanings, and whether they are denied."""

import pytest

from upstream.extraction.terms.negation import REACH
from upstream.extraction.terms.term_files import (
    TermFileError,
    is_terms,
    read_terminology,
    read_terms,
    terms_bytes,
)
from upstream.extraction.terms.terms import Terminology, TermModel

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
        "fieber": "fever",
        "husten": "cough",
    },
)


MODEL = TermModel("model_1", (SYMPTOMS,))


def found(text):
    return {
        (MODEL.meaning(span.label, text[span.start : span.end]), span.is_denied)
        for span in next(MODEL.finder().find([text]))
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
        ("Kein Fieber, kein Husten.", {("fever", True), ("cough", True)}),
        ("Weder Fieber noch Husten", {("fever", True), ("cough", True)}),
        ("Pat. verneint Fieber, hat aber Husten", {("fever", True), ("cough", False)}),
        ("Husten. Fieber wird verneint.", {("cough", False), ("fever", True)}),
        ("Fieber: nein\nHusten: ja", {("fever", True), ("cough", False)}),
        ("Husten, Fieber verneint, müde", {("cough", False), ("fever", True)}),
        ("Nicht nur Fieber, auch Husten", {("fever", False), ("cough", False)}),
        ("Ohne Fieber bei Husten", {("fever", True), ("cough", False)}),
        ("Husten, Schnelltest negativ", {("cough", False)}),
        ("Fieber nicht ausgeschlossen", {("fever", False)}),
        ("Cough\nFever: no", {("cough", False), ("fever", True)}),
        ("Negó fiebre. Cough", {("fever", True), ("cough", False)}),
        ("Fever: no.\nCough: yes", {("fever", True), ("cough", False)}),
        ("Fever: no\nCough: yes", {("fever", True), ("cough", False)}),
        (
            "cough, Fiebre: no, chills",
            {("cough", False), ("fever", True), ("chills", False)},
        ),
        ("Fever: none of note", {("fever", False)}),
        ("Cough - absent. Fever", {("cough", True), ("fever", False)}),
        ("Cough \u2013 none\nFever", {("cough", True), ("fever", False)}),
        ("Cough: absent", {("cough", True)}),
        ("cough (-), fever (+)", {("cough", True), ("fever", False)}),
        (
            "fever, cough (negative) and chills",
            {("fever", False), ("cough", True), ("chills", False)},
        ),
        ("fever (no), cough (2-3 days)", {("fever", True), ("cough", False)}),
        ("fever positive, cough negative.", {("fever", False), ("cough", True)}),
        (
            "fever 39; abdominal pain absent, cough",
            {("fever", False), ("abdominal pain", True), ("cough", False)},
        ),
        ("Fever -none.", {("fever", False)}),
        ("Cough - no fever", {("cough", False), ("fever", True)}),
        ("- negative\ncough", {("cough", False)}),
        ("Fever - negative chest film", {("fever", False)}),
        ("Fever, negative chest film.", {("fever", False)}),
        ("A man with fever tested negative.", {("fever", False)}),
        ("Cough. Test of stool negative.", {("cough", False)}),
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
    model = TermModel("forms")
    (span,) = next(model.finder().find([text]))
    assert (span.label, text[span.start : span.end]) == (kind, said)
    assert (span.source, span.score) == ("forms", 1.0)
    name = said.lower().replace(":", " ").split()[0]
    assert model.meaning(kind, said) == name
    assert next(TermModel("none", has_forms=False).finder().find([text])) == ()


def test_a_file_of_terms_is_one_a_line_or_phrases_with_meanings(tmp_path):
    path = tmp_path / "symptoms.csv"
    path.write_text('# ours\nfever,R50.9\n\n\'cough\n"pain, joint",M25.5\n')
    read = read_terminology(path, "SYMPTOM")
    assert read.meanings == {
        "fever": "R50.9",
        "'cough": "'cough",
        "pain, joint": "M25.5",
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "s.csv has no term"),
        (b"# none\n", "s.csv has no term"),
        (b"fever,a\nfever,b\n", r"s.csv:2: 'fever' stands for two things"),
        (b"fever,a\n\nfever,b,c\n", "s.csv:3: write a phrase"),
        (b"fever\n,R50\n", "s.csv:2: write a phrase"),
        (b"x" * 1_001, "s.csv:1: write a phrase"),
        (b"fi\xe8vre\n", "not UTF-8 at byte 2"),
        (b"x" * 200_000, "s.csv:1: field larger than"),
    ],
    ids=range(8),
)
def test_what_is_wrong_with_a_file_of_terms_is_said(tmp_path, content, said):
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    with pytest.raises(TermFileError, match=said):
        read_terminology(path, "SYMPTOM")
    with pytest.raises(TermFileError, match=r"absent.csv cannot be read"):
        read_terminology(tmp_path / "absent.csv", "SYMPTOM")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("fever,R50.9\nFever,R50\n", r"s.csv:2: 'Fever' .*'fever' in line 1\): keep"),
        ("fever,R50.9\ncough,R05\nfevers,R51\n", "s.csv:3: 'fevers' stands for two"),
        ("Fevers,R51\nfever,R50\n", "s.csv:2: 'fever' stands for two things"),
        ("joint  pain,a\nJoint pain,b\n", "s.csv:2: 'Joint pain' stands for two"),
        ("fever\nFever,R50\n", "s.csv:2: 'Fever' stands for two things"),
    ],
)
def test_terms_that_are_found_as_one_stand_for_one_thing(tmp_path, content, said):
    path = tmp_path / "s.csv"
    path.write_text(content)
    with pytest.raises(TermFileError, match=said):
        read_terminology(path, "S")


def test_terms_that_are_found_as_one_may_be_written_several_times(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("fever,R50\nFever,R50\nfevers,R50\nglass,a\nglas,b\n")
    assert set(read_terminology(path, "S").meanings.values()) == {"R50", "a", "b"}
    path.write_text("Adam\nAdams\nadam\nNew York\nnew  york\n")
    names = read_terminology(path, "S")
    assert names.meaning(("adams",)) == "adams"
    assert names.meaning(("new", "york")) == "new york"


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_meanings_stand_behind_a_comma_a_semicolon_or_a_tab(tmp_path, sign):
    path = tmp_path / "s.csv"
    path.write_text(f"fever{sign}R50.9\nchill{sign}R68.83\n")
    assert read_terminology(path, "S").meanings == {"fever": "R50.9", "chill": "R68.83"}


def test_a_term_model_is_read_as_it_was_written():
    back = read_terms(terms_bytes(MODEL))
    assert back == MODEL
    assert is_terms(terms_bytes(MODEL))
    assert back.types == ("SYMPTOM", "MEDICATION", "MEASUREMENT")
    for broken in (b"{", b"{}", b'{"format": 2}', b"[]"):
        with pytest.raises(TermFileError):
            read_terms(broken)


def test_what_is_no_term_of_a_model_has_no_meaning():
    assert MODEL.meaning("SYMPTOM", "jaundice") is None
    assert MODEL.meaning("OTHER", "fever") is None
    assert MODEL.meaning("SYMPTOM", "FEVERS") == "fever"
