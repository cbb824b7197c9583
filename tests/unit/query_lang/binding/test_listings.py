"""What a key without a list of values is refused with: its own names, its own type."""

from dataclasses import replace
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
    ("LEFT(d.icd, 4)", D, f"group by a level of the codes, {LEVELS}; or name the"),
    ("SUBSTRING(icd, 5, 1)", "diagnoses", "WHERE, substring(icd, 5, 1) IN ('a', 'b')"),
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


@pytest.mark.parametrize(
    ("part", "hint"),
    [
        (1, "before the dot of an ICD code stands its category: icd_category(icd)"),
        (2, "icd_category(icd), icd_block(icd) or icd_chapter(icd); its further signs"),
    ],
)
def test_a_code_is_not_taken_apart_but_has_levels(part, hint):
    sql = f"SELECT COUNT(*) FROM diagnoses WHERE SPLIT_PART(icd, '.', {part}) = 'x'"
    with pytest.raises(QueryError) as refused:
        compile_query(sql, DATASET)
    assert hint in refused.value.hint


SITES = Table(
    "sites",
    (
        Column("site", T.TEXT, nullable=False, max_length=2),
        Column("beds", T.INTEGER),
        Column("opened", T.DATE),
        Column("town", T.TEXT, max_length=40),
    ),
    key=("site",),
)
AT = "diagnoses AS d JOIN sites AS s ON s.site = d.site"
LISTED = "; or your custodian declares the table sites listed: true, if it is small: "
OF_PUBLIC_ROWS = (
    (f"s.town, COUNT(*) FROM {AT} GROUP BY 1", "then town may be grouped by"),
    (f"UPPER(s.town), COUNT(*) FROM {AT} GROUP BY 1", "then town may be grouped by"),
    (f"beds, COUNT(*) FROM {AT} GROUP BY 1", "then beds may be grouped by"),
    (f"s.opened, COUNT(*) FROM {AT} GROUP BY 1", "then opened may be grouped by"),
    (
        f"d.site, COUNT(*) / s.beds AS x FROM {AT} GROUP BY d.site",
        "then beds may stand beside GROUP BY of the table's key",
    ),
    (
        f"d.site, COUNT(*) / MAX(s.beds) AS x FROM {AT} GROUP BY d.site",
        "then beds may stand beside GROUP BY of the table's key",
    ),
    (f"AVG(s.beds) FROM {AT}", "then beds has bounds"),
)
ROWS = (("a1", 20, date(2000, 1, 1), "one"), ("b2", 5, date(1990, 1, 1), "two"))


def with_sites(**listed):
    tables = {"diagnoses": DIAGNOSES, "sites": replace(SITES, **listed)}
    return replace(DATASET, tables=tables)


@pytest.mark.parametrize(("sql", "then"), OF_PUBLIC_ROWS)
def test_a_column_of_public_rows_is_told_what_listing_them_allows(sql, then):
    """And what is told is so."""
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT {sql}", with_sites())
    assert refused.value.hint.endswith(LISTED + then)
    assert compile_query(f"SELECT {sql}", with_sites(listed=True, rows=ROWS))


@pytest.mark.parametrize(
    "sql",
    [
        "note, COUNT(*) FROM diagnoses GROUP BY 1",
        f"d.note, COUNT(*) FROM {AT} GROUP BY 1",
        f"MAX(s.beds) FROM {AT}",
        f"d.site, MAX(d.cost) FROM {AT} GROUP BY 1",
    ],
)
def test_nothing_is_said_of_listing_what_it_would_not_help(sql):
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT {sql}", with_sites())
    assert "listed" not in refused.value.hint
