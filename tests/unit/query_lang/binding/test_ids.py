"""Columns that refer to a declared key; what texts with them find: test_plain_sql.py."""

# ruff: noqa: E501 - a text is one string, to be read

from dataclasses import replace
from datetime import date

import pytest

from privacy.errors import QueryError
from privacy.schema import Column, ColumnType, Dataset, RangeDomain, Table
from query_lang.rewriting.mending import mended
from tests.support.compiling import compile_query

T = ColumnType
DAYS = RangeDomain(date(2024, 1, 1), date(2024, 12, 31))
STAYS = Table(
    "stays",
    (
        Column("person", T.INTEGER, nullable=False),
        Column("stay_id", T.INTEGER, nullable=False),
        Column("ward_no", T.INTEGER),
        Column("d", T.DATE, nullable=False, domain=DAYS),
    ),
    "person",
    6,
    key=("stay_id",),
)
LABS = Table(
    "labs",
    (
        Column("person", T.INTEGER, nullable=False),
        Column("stay_id", T.INTEGER, nullable=False),
        Column("spell_id", T.INTEGER, nullable=False),
        Column("x", T.INTEGER, domain=RangeDomain(0, 9)),
        Column("d", T.DATE, nullable=False, domain=DAYS),
    ),
    "person",
    9,
)
DRUGS = Table(
    "drugs",
    (
        Column("person", T.INTEGER, nullable=False),
        Column("stay_id", T.INTEGER),
        Column("d", T.DATE, nullable=False, domain=DAYS),
    ),
    "person",
    9,
)
TABLES = {table.name: table for table in (STAYS, LABS, DRUGS)}
DATASET = Dataset("ward", "people", "patient", date(2024, 12, 31), TABLES)


def compiled(sql, dataset=DATASET):
    return compile_query(sql, dataset)


def refusal(sql, dataset=DATASET):
    with pytest.raises(QueryError) as caught:
        compile_query(sql, dataset)
    return caught.value


SAME = [
    (
        "SELECT COUNT(*) FROM (SELECT stay_id, COUNT(*) AS n FROM labs GROUP BY {}stay_id) t",
        "person, ",
    ),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT {}stay_id FROM labs) t", "person, "),
    (
        "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY {}stay_id ORDER BY d) AS n FROM labs) t WHERE n = 1",
        "person, ",
    ),
    (
        "SELECT COUNT(*) FROM labs a JOIN labs b ON {}a.stay_id = b.stay_id AND a.d < b.d",
        "a.person = b.person AND ",
    ),
    ("SELECT COUNT(*) FROM labs a LEFT JOIN drugs b USING ({}stay_id)", "person, "),
    (
        "SELECT COUNT(*) FROM drugs a WHERE NOT EXISTS (SELECT 1 FROM labs b WHERE {}a.stay_id = b.stay_id)",
        "a.person = b.person AND ",
    ),
    (
        "SELECT COUNT(*) FROM labs a LEFT JOIN LATERAL (SELECT b.d FROM drugs b WHERE {}a.stay_id = b.stay_id ORDER BY b.d LIMIT 1) x ON TRUE WHERE x.d > a.d",
        "a.person = b.person AND ",
    ),
]


@pytest.mark.parametrize(("sql", "unit"), SAME)
def test_the_unit_key_is_added_to_an_id_and_told(sql, unit):
    found, written = compiled(sql.format("")), compiled(sql.format(unit))
    assert found.rendered == written.rendered
    added = {w.code for w in found.warnings} - {w.code for w in written.warnings}
    assert added == {"unit_key_added"}


@pytest.mark.parametrize(
    "within",
    [
        "SELECT stay_id AS s FROM labs",
        "SELECT stay_id AS s FROM labs WHERE x > 3 GROUP BY stay_id, x",
        "SELECT stay_id AS s FROM labs UNION ALL SELECT stay_id FROM stays",
        "SELECT y.stay_id AS s FROM (SELECT * FROM labs) AS y",
        "SELECT stay_id AS s FROM drugs WHERE stay_id IS NOT NULL",
    ],
)
def test_a_column_of_a_derived_table_stays_an_id(within):
    if "drugs" in within:
        within = within.replace("AS s", "AS s, d") + " AND stay_id > 5"
    joined = f"SELECT COUNT(*) FROM stays z JOIN ({within}) AS t ON t.s = z.stay_id"
    assert compiled(joined).measures


def test_rows_without_an_id_are_a_group_of_all_units():
    grouped = "SELECT COUNT(*) FROM (SELECT stay_id FROM drugs{} GROUP BY stay_id) t"
    assert refusal(grouped.format("")).rule == "group_by_unit"
    for where in (
        "stay_id IS NOT NULL",
        "stay_id > 7",
        "7 <> stay_id AND d > '2024-02-03'",
    ):
        assert compiled(grouped.format(f" WHERE {where}")).warnings
    assert refusal(grouped.format(" WHERE stay_id > 7 OR d < '2024-02-03'")).rule


LEFT = "labs a LEFT JOIN stays z ON z.person = a.person AND z.d = a.d"


def test_an_id_that_a_left_join_brings_may_be_missing():
    grouped = (
        f"SELECT COUNT(*) FROM (SELECT z.stay_id FROM {LEFT}{{}} GROUP BY z.stay_id) t"
    )
    assert refusal(grouped.format("")).rule == "group_by_unit"
    assert compiled(grouped.format(" WHERE z.stay_id IS NOT NULL")).warnings


def test_a_derived_table_whose_rows_may_be_missing_ties_no_exists():
    outer = f"(SELECT a.d, z.stay_id FROM {LEFT}) AS y"
    tied = "EXISTS (SELECT 1 FROM drugs r WHERE r.stay_id = {}.stay_id)"
    assert compiled(f"SELECT COUNT(*) FROM {outer} WHERE {tied.format('y')}").measures
    error = refusal(f"SELECT COUNT(*) FROM {LEFT} WHERE {tied.format('z')}")
    assert error.rule == "subquery_tie"


@pytest.mark.parametrize(
    "key",
    [
        replace(STAYS, key=("person", "stay_id")),
        replace(STAYS, key=("stay_id", "d")),
        replace(
            STAYS,
            columns=(
                STAYS.columns[0],
                Column("stay_id", T.INTEGER, domain=RangeDomain(1, 6)),
                *STAYS.columns[2:],
            ),
        ),
        replace(STAYS, columns=(STAYS.columns[0], Column("stay_id", T.TEXT))),
    ],
    ids=["of the unit", "of two columns", "a number with a range", "another type"],
)
def test_what_is_no_key_alone_or_another_column_is_no_id(key):
    dataset = replace(DATASET, tables={**TABLES, "stays": key})
    sql = "SELECT COUNT(*) FROM (SELECT stay_id FROM labs GROUP BY stay_id) t"
    assert refusal(sql, dataset).rule == "group_by_unit"


IN = "SELECT COUNT(*) FROM {} WHERE {}stay_id IN (SELECT {} FROM {})"


@pytest.mark.parametrize("word", ["", "NOT "])
def test_in_of_ids_is_exists_of_the_same_unit(word):
    sql = (
        f"SELECT COUNT(*) FROM stays WHERE stay_id {word}IN (SELECT stay_id FROM labs)"
    )
    exists = (
        f"SELECT COUNT(*) FROM stays z WHERE {word}EXISTS (SELECT 1 FROM labs b WHERE "
        "b.person = z.person AND b.stay_id = z.stay_id)"
    )
    assert compiled(sql).rendered == compiled(exists).rendered


@pytest.mark.parametrize(
    ("where", "allowed"),
    [
        ("stay_id IN (SELECT stay_id FROM drugs)", True),
        ("stay_id IN (SELECT stay_id FROM drugs) OR d > '2024-03-03'", True),
        ("stay_id NOT IN (SELECT stay_id FROM drugs)", False),
        ("NOT stay_id IN (SELECT stay_id FROM drugs)", False),
        ("(stay_id IN (SELECT stay_id FROM drugs)) IS NULL", False),
        ("stay_id NOT IN (SELECT stay_id FROM drugs WHERE stay_id > 3)", True),
        ("stay_id NOT IN (SELECT stay_id FROM labs GROUP BY stay_id)", True),
        ("stay_id IN (SELECT r.stay_id FROM drugs r WHERE r.d > stays.d)", True),
        ("stay_id NOT IN (SELECT r.stay_id FROM drugs r WHERE r.d > stays.d)", False),
        ("stay_id NOT IN (SELECT l.stay_id FROM labs l WHERE l.d > stays.d)", True),
    ],
)
def test_in_is_exists_where_no_null_can_tell_them_apart(where, allowed):
    sql = f"SELECT COUNT(*) FROM stays WHERE {where}"
    if allowed:
        assert {w.code for w in compiled(sql).warnings} == {"unit_key_added"}
    else:
        assert refusal(sql).rule == "in_query_unit"


@pytest.mark.parametrize(
    "where",
    [
        "stay_id NOT IN (SELECT stay_id FROM drugs)",
        "NOT stay_id IN (SELECT stay_id FROM drugs)",
        "(stay_id IN (SELECT stay_id FROM drugs)) IS NULL",
        "NOT (stay_id NOT IN (SELECT stay_id FROM drugs))",
    ],
)
def test_what_a_null_makes_unknown_is_not_rewritten_as_exists(where):
    sql = f"SELECT COUNT(*) FROM stays WHERE {where}"
    assert mended(sql, refusal(sql), compiled) is None


def test_not_in_of_ids_that_may_be_null_says_what_sql_does():
    sql = "SELECT COUNT(*) FROM stays WHERE stay_id NOT IN (SELECT stay_id FROM drugs)"
    told = "; where one of the list is NULL, SQL leaves no row"
    assert refusal(sql).hint.endswith(told)


@pytest.mark.parametrize(
    "listed", ["SELECT person FROM labs", "SELECT stay_id, d FROM labs"]
)
def test_in_of_an_id_takes_ids_alone(listed):
    error = refusal(f"SELECT COUNT(*) FROM stays WHERE stay_id IN ({listed})")
    assert error.rule in {"in_query_unit", "in_query_one"}
