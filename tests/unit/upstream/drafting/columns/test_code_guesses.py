"""Hierarchies are proposed where whole codes are of them, and nowhere else."""

import re

import pytest

from upstream.drafting.drafting import draft_manifest


def drafted(tmp_path, name, values):
    """Return the drafted line of a column, and the comments right above it."""
    rows = "".join(f'{n},"{value}"\n' for n, value in enumerate(values))
    (tmp_path / "t.csv").write_text(f"pid,{name}\n{rows}")
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    return re.search(rf"((?:  #.*\n)*)  - \{{name: {name}.*", text)[0]


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("code", ["A10BA02", "C09AA05", "N02BE01", "J01CA04"], "of the form of ATC"),
        ("code", ["C09AA", "N02BE", "J01C", "N02BE01"], "of the form of ATC"),
        ("atc", ["N06AX16", "J01XE01", "L01XX02", "A10BA02"], "of the form of ATC"),
        ("municipality", ["M01", "M02", "M07"], ""),
        ("commune_code", ["M01", "M02", "M07"], ""),
        ("nuts3", ["C11", "D20", "D21"], ""),
        ("code", ["5-470.11", "8-930", "1-632.0"], "of the form of OPS"),
        ("code", ["718-7", "2345-7", "33914-3"], "of the form of LOINC"),
        ("code", ["E11.90+", "H36.0*", "B95.6!", "I10.00"], "with a mark"),
        ("code", ["E11.90 G", "I10.- G", "J45.9 V"], "with a mark"),
        ("code", ["E11.9", "I10", "N18.3", "ward 7", "none yet"], "40 % are none as"),
        ("plz", ["E11", "N16", "W12", "K12"], ""),
        ("patient_id", ["P0001", "P0002", "P0703"], ""),
        ("visit_id", ["A0001", "A0002", "B0703"], ""),
        ("code", ["D-80331", "D-10115", "CH-8001"], ""),
    ],
)
def test_codes_of_other_systems_are_taken_for_no_diagnoses(
    tmp_path, name, values, words
):
    found = drafted(tmp_path, name, values)
    assert "hierarchy:" not in found.splitlines()[-1]
    assert words in found


@pytest.mark.parametrize(
    ("values", "system"),
    [
        (["E11.9", "I10", "e1190", "U07.1"], "icd10"),
        (["S52.521A", "T36.0X1A", "C7A.00", "E11.9"], "icd10cm"),
        (["250.83", "V27", "E950.1", "41401"], "icd9cm"),
    ],
)
def test_whole_codes_are_proposed_as_the_hierarchy_that_they_are_of(
    tmp_path, values, system
):
    found = drafted(tmp_path, "code", values * 5)
    assert f"domain: {{hierarchy: {system}}}" in found
    assert "no codes" not in found


def test_blanks_around_codes_and_words_are_left_out_by_declaration(tmp_path):
    found = drafted(tmp_path, "code", ["E11.9  ", "I10    ", " I11.0"] * 5)
    assert "type: text, trim: true, domain: {hierarchy: icd10}" in found
    assert 'trim: true, domain: {values: ["F", "M"]' in drafted(
        tmp_path, "sex", ["M ", "F "] * 5
    )
    assert "trim" not in drafted(tmp_path, "word", ["red", "very blue"] * 5)


def test_a_share_that_does_not_fit_is_told_beside_the_proposal(tmp_path):
    values = [*["E11.9", "I10"] * 12, "N02BE01"]
    found = drafted(tmp_path, "code", values)
    assert "domain: {hierarchy: icd10}" in found
    assert "4 % are no codes of WHO ICD-10 as a whole" in found
    assert "N02BE01" not in found
