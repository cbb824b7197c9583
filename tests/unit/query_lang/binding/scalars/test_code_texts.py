"""Texts beside codes that no row holds, or that mean more than one code."""

from dataclasses import replace

import pytest

from privacy.schema import Column, ColumnType, Hierarchy, HierarchyDomain, Table
from query_lang.hierarchies import sought_codes
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

T = ColumnType
ATC = Hierarchy(
    "atc",
    ("main", "group"),
    {"C10AA01": ("C", "C10"), "c10.aa05": ("C", "C10"), "A10BA02": ("A", "A10")},
)
STAYS = Table(
    "stays",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("dx", T.TEXT, domain=HierarchyDomain("icd10")),
        Column("old", T.TEXT, domain=HierarchyDomain("icd9cm")),
        Column("drug", T.TEXT, domain=HierarchyDomain("atc")),
    ),
    unit_column="patient_id",
    max_rows_per_unit=4,
)


def told(condition):
    schema = replace(
        HOSPITAL, tables={**HOSPITAL.tables, "stays": STAYS}, hierarchies={"atc": ATC}
    )
    found = compile_query(f"SELECT COUNT(*) FROM stays WHERE {condition}", schema)
    return [(warning.code, warning.detail) for warning in found.warnings]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("dx = 'I50'", "dx LIKE 'I50%'"),
        ("dx <> 'I50'", "icd_category(dx) = 'I50'"),
        ("dx IN ('I21.0', 'I50')", "icd_category(dx) = 'I50'"),
        ("old = '428'", "icd_category(old) = '428'"),
        ("dx = ANY (ARRAY['I50', 'I21'])", "icd_category(dx) = 'I50'"),
        ("dx LIKE 'I50'", "icd_category(dx) = 'I50'"),
        ("dx BETWEEN 'I20' AND 'I50'", "compare icd_category(dx)"),
        ("dx <= 'I50'", "compare icd_category(dx)"),
        ("'I50' >= dx", "compare icd_category(dx)"),
        ("dx LIKE 'i50%'", "UPPER(dx)"),
        ("dx ~ '^i5[0-2]'", "UPPER(dx)"),
        ("dx ~ '^i50|^i51'", "UPPER(dx)"),
        ("dx = 'i50.9'", "UPPER(dx)"),
        ("drug = 'c10aa01'", "UPPER(drug)"),
        ("dx = 'I50.9'", None),
        ("dx LIKE 'I50%'", None),
        ("dx LIKE '%50%'", None),
        ("dx < 'I50'", None),
        ("dx >= 'I50'", None),
        ("dx BETWEEN 'I20' AND 'I50.9'", None),
        ("icd_category(dx) BETWEEN 'I20' AND 'I50'", None),
        ("drug = 'C10AA05'", None),
        ("drug LIKE 'C10.AA%'", None),
    ],
)
def test_a_text_that_takes_fewer_codes_than_may_be_meant_is_told(condition, said):
    found = told(condition)
    assert [code for code, _ in found] == ["code_text"] * (said is not None)
    assert all(said in detail for _, detail in found)


@pytest.mark.parametrize(
    ("condition", "instead"),
    [
        ("dx = 'I20-I25'", "icd_block(dx) has such values"),
        ("dx IN ('I20-I25', 'I30-I52')", "icd_block(dx) has such values"),
        ("dx = 'heart failure'", "no code of icd10"),
        ("drug = 'C10'", "level(drug, 'group') has such values"),
        ("drug IN ('C10AA01', 'C10')", "level(drug, 'group') has such values"),
        ("drug = 'C10AA07'", "no code of atc"),
        ("drug LIKE 'N06%'", "no code of atc begins like the pattern"),
        ("drug ~ '^N06|^B01'", "no code of atc begins like the pattern"),
        ("dx LIKE '428%'", "no code of icd10 begins like the pattern"),
        ("dx LIKE '428.0%'", "no code of icd10 begins like the pattern"),
    ],
)
def test_a_text_that_no_code_is_or_begins_with_is_told(condition, instead):
    ((code, detail),) = told(condition)
    assert code == "literal_outside_domain"
    assert instead in detail


@pytest.mark.parametrize(
    "condition",
    ["dx = 'ß50'", "drug = 'ﬀ'", "dx LIKE 'ß50%'", "drug LIKE 'ﬀ%'", "dx IS NULL"],
)
def test_nothing_is_said_of_letters_in_which_engines_differ(condition):
    assert "literal_outside_domain" not in dict(told(condition))


def test_a_column_is_told_of_once_whatever_stands_beside_it():
    many = " OR ".join(f"dx = 'I{n}'" for n in range(20, 53) if n != 29)
    assert [code for code, _ in told(many)] == ["code_text"]


def test_hierarchies_without_end_are_not_looked_through(monkeypatch):
    monkeypatch.setattr(sought_codes, "MOST_CODES", 2)
    assert told("drug = 'C10'") == told("drug LIKE 'N06%'") == []
