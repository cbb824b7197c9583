"""Texts that a refusal rewrites mean to plain DuckDB what was typed."""

# ruff: noqa: E501 - a text is one string, to be read

import duckdb
import pytest

from privacy.errors import QueryError
from query_lang.rewriting.mending import mended
from tests.golden.reference_pages import clinic, hospital
from tests.semantics.typed.plain_sql import both, plain
from tests.support.compiling import compile_query

RANKED = "SELECT department, COUNT(*) FROM (SELECT patient_id, department, RANK() OVER (PARTITION BY patient_id ORDER BY {}) AS r FROM encounters) AS t WHERE {} GROUP BY department"
LAGGED = "SELECT p, COUNT(*) FROM (SELECT patient_id, LAG({}) OVER (PARTITION BY patient_id ORDER BY admitted, encounter_id) AS p FROM encounters) AS t GROUP BY p"
TEXTS = (
    "SELECT COUNT(*) FROM encounters WHERE (age, length_of_stay) >= (60, 5)",
    "SELECT COUNT(*) FROM encounters WHERE NOT (age, length_of_stay, year) < (60, 5, 2022)",
    "SELECT COUNT(*) FROM encounters WHERE (diagnosis_group, department) <> ('other', 'surgery')",
    "SELECT COUNT(*) FROM encounters WHERE (department, age) > ('internal', 60) OR (year, age) <= (2021, 40)",
    "SELECT COUNT(DISTINCT (patient_id, department)) AS pairs FROM encounters",
    "SELECT COUNT(DISTINCT (e.patient_id, e.discharged_to)) FROM encounters AS e WHERE year = 2022;",
    "WITH old AS (SELECT * FROM encounters WHERE age >= 60) SELECT COUNT(DISTINCT (patient_id, year)) AS n FROM old",
    "SELECT CONCAT_WS('/', discharged_to, department) AS k, COUNT(*) FROM encounters GROUP BY 1",
    "SELECT CONCAT_WS(', ', department, discharged_to) AS k, COUNT(*) FROM encounters GROUP BY 1",
    "SELECT COUNT(*) FROM encounters WHERE admitted >= '2022/1/5' AND admitted < '2024/3/01'",
    "SELECT COUNT(*) FROM labs WHERE NOT abnormal = 1",
    "SELECT year AS y, COUNT(*) AS n, COUNT_IF(age < 18) AS young, SUM(age) - young AS s, s / n AS t FROM encounters GROUP BY year",
    "SELECT COUNT(*) FROM diagnoses WHERE code NOT IN (VALUES ('E11.9'), ('I10'))",
    "SELECT COUNT(*) FROM diagnoses WHERE SUBSTRING(code, 0, 4) IN ('E11', 'I10')",
    "SELECT COUNT(DISTINCT CONCAT(patient_id, '/', discharged_to)) AS n FROM encounters WHERE age > 20",
    "SELECT COUNT(DISTINCT patient_id || '-' || admitted::text) FROM encounters e WHERE age > 60 OR year = 2022",
    "SELECT COUNT(DISTINCT discharged_to || '/' || e.patient_id) AS n FROM encounters e",
    RANKED.format("admitted", "r = 1"),
    RANKED.format("discharged_to", "r = 1"),
    RANKED.format("age DESC", "t.r <= 1 AND department <> 'surgery'").replace(
        "AS r", "r"
    ),
    LAGGED.format("department, 1, 'none'"),
    LAGGED.format("discharged_to, 2, 'none'"),
)
NOT_REWRITTEN = (
    "SELECT COUNT(DISTINCT CONCAT(patient_id, admitted)) AS n FROM encounters",
    "SELECT COUNT(DISTINCT patient_id || discharged_to) AS n FROM encounters",
    "SELECT COUNT(DISTINCT patient_id || '-' || admitted || '-' || age) AS n FROM encounters",
    RANKED.format("admitted", "r <= 2"),
    RANKED.format("admitted", "r = 1 OR r = 2"),
    RANKED.format("admitted, encounter_id", "r = 1"),
    "SELECT CONCAT_WS(department, discharged_to, 'x') AS k, COUNT(*) FROM encounters GROUP BY 1",
    "SELECT COUNT(DISTINCT (patient_id, department)) AS n, COUNT(*) AS m FROM encounters",
    "SELECT department, COUNT(DISTINCT (patient_id, year)) AS n FROM encounters GROUP BY department",
    "SELECT COUNT(DISTINCT (department, year)) AS n FROM encounters",
    LAGGED.format("department, 1, 'none'").replace("LAG", "LEAD"),
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    with both(tmp_path_factory.mktemp("plain"), edges=True) as connection:
        yield connection


def rewritten(sql, dataset):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, dataset)
    return mended(sql, refused.value, lambda text: compile_query(text, dataset))


@pytest.mark.parametrize("sql", TEXTS)
def test_a_rewritten_text_finds_what_the_typed_one_finds(rows, sql):
    found = rewritten(sql, hospital())
    assert found is not None
    theirs = sorted(plain(rows, sql), key=repr)
    assert theirs
    assert sorted(plain(rows, found), key=repr) == theirs


@pytest.mark.parametrize("sql", NOT_REWRITTEN)
def test_what_the_words_cannot_say_alike_is_not_rewritten(sql):
    assert rewritten(sql, hospital()) is None


LOOKED_UP = "SELECT COUNT(*) AS n FROM visits AS v WHERE {}"
ONE, NONE = (
    f"v.ward = (SELECT ward FROM wards AS w WHERE w.ward = '{name}')"
    for name in ("icu", "attic")
)


@pytest.mark.parametrize(
    "condition",
    [
        ONE,
        NONE,
        f"{NONE} OR cost > 10",
        f"({ONE} AND cost > 10) OR {NONE}",
        f"CASE WHEN {NONE} THEN 1 ELSE 2 END = 2",
    ],
)
def test_a_value_of_a_public_table_is_looked_up_by_in(condition):
    sql = LOOKED_UP.format(condition)
    found = rewritten(sql, clinic())
    assert found == sql.replace("ward = (SELECT", "ward IN (SELECT")
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "CREATE TABLE wards AS SELECT * FROM (VALUES ('icu')) t(ward)"
        )
        connection.execute(
            "CREATE TABLE visits AS SELECT * FROM (VALUES ('icu', 5), ('icu', 20), "
            "('er', 20), (NULL, 1), ('day', NULL)) AS t(ward, cost)"
        )
        numbers = [connection.execute(text).fetchone() for text in (sql, found)]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(
    "condition",
    [
        f"NOT ({NONE})",
        f"({NONE}) IS NULL",
        f"COALESCE({NONE}, TRUE)",
        f"({NONE}) = FALSE",
    ],
)
def test_where_unknown_is_told_from_false_nothing_is_rewritten(condition):
    assert rewritten(LOOKED_UP.format(condition), clinic()) is None


BY_FLOOR = "SELECT w.floor, COUNT({}) AS n FROM wards AS w LEFT JOIN visits AS v ON v.ward = w.ward {} GROUP BY w.floor"
OF_PERSONS = "LEFT JOIN persons AS p ON p.person_id = v.person_id"


@pytest.mark.parametrize(
    ("counted", "joins"),
    [
        ("v.cost", ""),
        ("p.smoker", OF_PERSONS),
        ("p.smoker", f"{OF_PERSONS} AND v.cost > 10"),
        (
            "DISTINCT x.cost",
            f"{OF_PERSONS} LEFT JOIN visits AS x ON p.person_id = x.person_id",
        ),
    ],
)
def test_a_public_table_in_front_leaves_the_numbers_of_all_groups(counted, joins):
    sql = BY_FLOOR.format(counted, joins)
    found = rewritten(sql, clinic())
    assert found is not None
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "CREATE TABLE wards AS SELECT * FROM (VALUES ('icu', 1), ('er', 1), "
            "('day', 2), ('attic', 3)) AS t(ward, floor)"
        )
        connection.execute(
            "CREATE TABLE visits AS SELECT * FROM (VALUES (1, 'icu', 5), (1, 'er', 20),"
            " (2, 'icu', NULL), (3, 'day', 7), (NULL, 'day', 8)) "
            "AS t(person_id, ward, cost)"
        )
        connection.execute(
            "CREATE TABLE persons AS SELECT * FROM (VALUES (1, TRUE), (2, FALSE), "
            "(4, TRUE)) AS t(person_id, smoker)"
        )
        typed, other = (dict(connection.execute(t).fetchall()) for t in (sql, found))
    assert {floor: n for floor, n in typed.items() if n or floor in other} == other
