"""Counterexamples from a review of the language: each fails on the code reviewed."""

import pytest

from privacy.errors import QueryError
from privacy.schema import ColumnType, RangeDomain
from query_lang.plans.domains import combined
from query_lang.plans.expressions import Facts
from tests.semantics import engine, hospital
from tests.support.compiling import compile_query

LONGEST_STATEMENT = 256 * 1024
LAST = 2**63 - 1
ENCOUNTER = {
    "started": hospital.FIRST_DAY,
    "ended": None,
    "ward": None,
    "age": 60,
    "severity": 1,
    "days": 1,
    "cost": None,
    "urgent": True,
    "note": None,
    "wide": None,
    "vast": None,
}


def database(*, encounters):
    tables = {name: [] for name in hospital.DATASET.tables}
    tables["encounters"] = [
        {"unit": 1, "row_hash": number, "row_rank": number + 1, **ENCOUNTER}
        for number in range(encounters)
    ]
    return tables


def vectors(sql, *, encounters):
    compiled = compile_query(sql, hospital.DATASET)
    with engine.connect() as connection:
        engine.load(connection, database(encounters=encounters))
        return engine.exact_vectors(connection, compiled.rendered)


def is_refused(sql):
    try:
        compile_query(sql, hospital.DATASET)
    except QueryError:
        return True
    return False


@pytest.mark.parametrize("rows", [0, 1])
def test_an_age_band_at_the_end_of_64_bits_raises_for_no_row(rows):
    sql = (
        f"SELECT age_band(CASE WHEN age > 50 THEN {LAST} END, 10) AS band, COUNT(*) "
        "FROM encounters GROUP BY 1"
    )
    if not is_refused(sql):
        assert sum(vectors(sql, encounters=rows)[0]) == rows


@pytest.mark.parametrize(
    "sql",
    [
        (
            "SELECT COUNT(*) FROM (SELECT patient_id, "
            "LAG(age, 00000001999999999999999999) OVER (PARTITION BY patient_id) "
            "AS x FROM encounters) q WHERE x = 1"
        ),
        "SELECT QUANTILE(cost, 0.5, 000002000) FROM encounters",
        (
            "SELECT age_band(age, 000001000000) AS band, COUNT(*) FROM encounters "
            "GROUP BY 1"
        ),
    ],
)
def test_leading_zeros_do_not_carry_a_number_past_its_limit(sql):
    assert is_refused(sql)


def doubling(tables):
    made = ["c0 AS (SELECT patient_id FROM patients)"]
    made += [
        f"c{n} AS (SELECT a.patient_id FROM c{n - 1} a "
        f"JOIN c{n - 1} b USING (patient_id))"
        for n in range(1, tables)
    ]
    return f"WITH {', '.join(made)} SELECT COUNT(*) FROM c{tables - 1}"


def test_common_tables_that_read_each_other_twice_do_not_double_the_plan_each_time():
    sql = doubling(13)
    assert len(sql) < 1_000
    if not is_refused(sql):
        compiled = compile_query(sql, hospital.DATASET)
        longest = max(len(each.sql) for each in compiled.rendered.statements)
        assert longest < LONGEST_STATEMENT


def test_a_domain_of_several_parts_is_listed_only_as_far_as_it_can_be_cells():
    parts = [
        Facts(ColumnType.INTEGER, domain=RangeDomain(n * 10_000, n * 10_000 + 9_600))
        for n in range(20)
    ]
    counted = []
    assert combined(parts, counted.append) == RangeDomain(0, 199_600)
    assert counted == []


@pytest.mark.parametrize(
    "sql",
    [
        (
            "SELECT COUNT(DISTINCT d.patient_id) FROM "
            "(SELECT l.patient_id, COUNT(*) AS n FROM encounters e LEFT JOIN labs "
            "l ON e.patient_id = l.patient_id "
            "GROUP BY e.patient_id) d"
        ),
        (
            "SELECT COUNT(*) FROM patients WHERE patient_id NOT IN "
            "(SELECT l.patient_id FROM encounters e LEFT JOIN labs l ON "
            "e.patient_id = l.patient_id "
            "GROUP BY e.patient_id)"
        ),
    ],
)
def test_a_nullable_unit_key_is_not_selected_under_another_unit_key_s_group(sql):
    assert is_refused(sql)


@pytest.mark.parametrize("key", ["1", "k"])
def test_exists_can_be_a_group_key_by_position_and_alias(key):
    sql = (
        "SELECT EXISTS (SELECT * FROM labs l WHERE l.patient_id = e.patient_id "
        "AND l.ward = e.ward) AS k, COUNT(*) AS n FROM encounters e "
        f"GROUP BY {key}"
    )
    assert vectors(sql, encounters=2) == [[2, 0]]


@pytest.mark.parametrize("rows", [0, 1])
def test_constants_that_an_engine_regroups_overflow_for_no_row(rows):
    sql = (
        f"SELECT SUM({LAST - 1} + ((days - 200) + 90)), SUM(days * 0 * {LAST} * {LAST}"
        " + 1) FROM encounters"
    )
    assert vectors(sql, encounters=rows) == [[rows * (LAST - 1 - 109)], [rows]]


# -- windows beside GROUP BY ---------------------------------------------------

NUMBERED = "ROW_NUMBER() OVER (PARTITION BY {}.patient_id ORDER BY {} DESC)"
OF_GROUPS = "SELECT COUNT(*) AS n FROM ({}) AS r WHERE k {}"
TWO_WARDS = "encounters AS e JOIN labs AS l ON e.patient_id = l.patient_id"
BY_WARD = "FROM encounters AS e GROUP BY e.patient_id, e.ward"
FIRST_WARD = "FIRST_VALUE({}) OVER (PARTITION BY {}.patient_id ORDER BY {}) AS k"


@pytest.mark.parametrize(
    ("shown", "condition"),
    [
        (
            "e.patient_id, e.ward",
            "EXISTS (SELECT * FROM wards AS w WHERE w.ward = e.ward AND w.floor > 0)",
        ),
        (
            "e.patient_id AS p, e.ward",
            "EXISTS (SELECT * FROM labs AS l WHERE l.patient_id = e.patient_id)",
        ),
        ("e.patient_id, e.ward AS title", "e.ward IN (SELECT ward FROM wards)"),
        ("e.patient_id, ward", "e.patient_id IN (SELECT patient_id FROM labs)"),
    ],
)
def test_a_subquery_beside_a_window_over_groups_is_refused_with_its_place(
    shown, condition
):
    """Names in it are of its own tables first: none is written out there."""
    number = NUMBERED.format("e", "COUNT(*)")
    item = f"CASE WHEN {condition} THEN {number} END AS k"
    groups = f"SELECT {shown}, {item} {BY_WARD}"
    with pytest.raises(QueryError, match="beside GROUP BY") as refused:
        compile_query(OF_GROUPS.format(groups, "= 1"), hospital.DATASET)
    assert refused.value.rule == "subquery_place"
    assert "group in a derived table" in refused.value.hint


@pytest.mark.parametrize("shown", ["e.ward", "l.ward AS title", "e.ward AS title"])
def test_a_window_reads_the_key_that_it_names_of_two_that_are_called_alike(shown):
    window = FIRST_WARD.format("l.ward", "e", "l.ward")
    keys = "GROUP BY e.patient_id, e.ward, l.ward"
    one = f"SELECT e.patient_id, {shown}, {window} FROM {TWO_WARDS} {keys}"
    groups = f"SELECT e.patient_id, l.ward AS own FROM {TWO_WARDS} {keys}"
    over = FIRST_WARD.format("own", "g", "own")
    two = f"SELECT patient_id, {over} FROM ({groups}) AS g"
    found, meant = (
        compile_query(OF_GROUPS.format(each, "= 'icu'"), hospital.DATASET)
        for each in (one, two)
    )
    assert found.canonical == meant.canonical


def test_a_name_of_two_keys_is_refused_in_a_window():
    window = NUMBERED.format("e", "ward")
    keys = "GROUP BY e.patient_id, e.ward"
    groups = f"SELECT e.patient_id, {window} AS k FROM {TWO_WARDS} {keys}"
    with pytest.raises(QueryError) as refused:
        compile_query(OF_GROUPS.format(groups, "= 1"), hospital.DATASET)
    assert refused.value.rule == "ambiguous_name"


def test_a_window_without_the_unit_key_is_told_what_the_text_can_say():
    window = "ROW_NUMBER() OVER (PARTITION BY e.ward ORDER BY COUNT(*))"
    groups = f"SELECT e.patient_id, {window} AS k {BY_WARD}"
    with pytest.raises(QueryError) as refused:
        compile_query(OF_GROUPS.format(groups, "= 1"), hospital.DATASET)
    assert "PARTITION BY patient_id, ward ORDER" in refused.value.hint
