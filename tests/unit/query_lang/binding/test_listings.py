"""What a key without a list of values is refused with: its own names, its own type."""

from datetime import date

import pytest

from privacy.errors import QueryError
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    HierarchyDomain,
    RangeDomain,
    Table,
    ValuesDomain,
)
from tests.support.compiling import compile_query

T = ColumnType
DIAGNOSES = Table(
    "diagnoses",
    (
        Column("patient", T.INTEGER, nullable=False),
        Column("icd", T.TEXT, domain=HierarchyDomain("icd10"), max_length=8),
        Column("note", T.TEXT, max_length=40),
        Column("seen", T.TIMESTAMP),
        Column("cost", T.DECIMAL, scale=2, domain=RangeDomain(0, 5_000)),
        Column("site", T.TEXT, domain=ValuesDomain(("a1", "b2")), max_length=2),
    ),
    unit_column="patient",
    max_rows_per_unit=3,
)
CODES = Table(
    "codes",
    (
        Column("code", T.TEXT, nullable=False, max_length=8),
        Column("chapter", T.TEXT, max_length=40),
    ),
    key=("code",),
)
DATASET = Dataset(
    "ward",
    "people",
    "patient",
    date(2024, 3, 31),
    {"diagnoses": DIAGNOSES, "codes": CODES},
)
D = "diagnoses AS d JOIN codes AS c ON c.code = d.icd"
LEVELS = "icd_chapter(d.icd), icd_block(d.icd) or icd_category(d.icd)"
BY_SITE = "diagnoses AS d JOIN codes AS c ON d.cost > 1 AND c.code = "
HINTS = (
    ("c.chapter", f"{BY_SITE}d.site", "group by d.site, which ON equates and which"),
    ("chapter", f"{BY_SITE}d.site", "group by d.site, which ON equates and which"),
    ("c.chapter", f"{BY_SITE}LEFT(d.site, 1)", "group by left(d.site, 1), which ON"),
    ("c.chapter", f"{BY_SITE}d.note", "group by a level of the codes"),
    ("icd", "diagnoses", "group by a level of its codes, icd_chapter(icd)"),
    ("d.icd", D, f"group by a level of its codes, {LEVELS}; or name the values"),
    ("c.chapter", D, f"group by a level of the codes, {LEVELS}; or name the values"),
    ("c.chapter", D, "c.chapter IN ('a', 'b')"),
    ("c.chapter", D, "your custodian declares a domain for codes.chapter"),
    ("note", "diagnoses", "note IN ('a', 'b')"),
    ("LEFT(note, 3)", "diagnoses", "left(note, 3) IN ('a', 'b')"),
    ("seen", "diagnoses", "DATE_TRUNC('month', seen)"),
    ("cost", "diagnoses", "WIDTH_BUCKET(cost, 0, 100, 10)"),
)


@pytest.mark.parametrize(("key", "source", "hint"), HINTS)
def test_the_hint_says_what_works_in_the_readers_own_names(key, source, hint):
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT {key} AS k, COUNT(*) FROM {source} GROUP BY 1", DATASET)
    assert refused.value.rule == "no_public_domain"
    assert hint in refused.value.hint


@pytest.mark.parametrize("level", ["icd_chapter", "icd_block", "icd_category"])
def test_the_levels_that_the_hint_names_are_keys(level):
    sql = f"SELECT {level}(d.icd) AS k, COUNT(*) FROM {D} GROUP BY {level}(d.icd)"
    compile_query(sql, DATASET)
