"""Calls, lists and signs of other dialects come back as the language has them."""
# ruff: noqa: E501 - a text is one string, to be read

import duckdb
import pytest

from privacy.errors import QueryError
from query_lang.rewriting.fixes.other_calls import overlapping
from query_lang.rewriting.mending import mended
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

MENDED = (
    (
        "SELECT CHOOSE(age % 10, 'main', 'other') AS r, COUNT(*) FROM encounters GROUP BY CHOOSE(age % 10, 'main', 'other')",
        "SELECT CASE TRUNC(age % 10) WHEN 1 THEN 'main' WHEN 2 THEN 'other' END AS r, COUNT(*) FROM encounters GROUP BY CASE TRUNC(age % 10) WHEN 1 THEN 'main' WHEN 2 THEN 'other' END",
    ),
    (
        "SELECT COUNT(*) AS n, COUNT_IF(age IN (60, 61)) AS old, DIV0(old * 100, n + 1) AS p FROM encounters",
        None,
    ),
    (
        "SELECT COUNT(*) AS n, COUNT_IF(age IN (60, 61)) AS old, ROUND(DIV0(old, n) * 100, 1) AS p FROM encounters",
        "SELECT COUNT(*) AS n, COUNT_IF(age IN (60, 61)) AS old, ROUND(COALESCE(SAFE_DIVIDE(COUNT_IF(age IN (60, 61)), COUNT(*)), 0) * 100, 1) AS p FROM encounters",
    ),
    (
        "SELECT DIV0(100 * COUNT(age), COUNT(*)) AS p FROM encounters",
        "SELECT COALESCE(SAFE_DIVIDE(100 * COUNT(age), COUNT(*)), 0) AS p FROM encounters",
    ),
    ("SELECT DIV0(SUM(age), COUNT(*)) AS p FROM encounters", None),  # NULL of no age
    (
        "SELECT INT(age / 7.5) AS a, COUNT(*) FROM encounters GROUP BY 1",
        "SELECT TRUNC(age / 7.5) AS a, COUNT(*) FROM encounters GROUP BY 1",
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE department + '/' + discharged_to = 'er/home' AND age + 1 > 3",
        "SELECT COUNT(*) FROM encounters WHERE department || '/' || discharged_to = 'er/home' AND age + 1 > 3",
    ),
    (
        "SELECT e.department + e.diagnosis_group AS k, COUNT(*) FROM encounters e GROUP BY 1",
        "SELECT e.department || e.diagnosis_group AS k, COUNT(*) FROM encounters e GROUP BY 1",
    ),
    (
        "SELECT COUNT(*) FROM diagnoses WHERE code NOT IN (VALUES ('E11.9'), ('I10'))",
        "SELECT COUNT(*) FROM diagnoses WHERE code NOT IN ('E11.9', 'I10')",
    ),
    ("SELECT COUNT(*) FROM diagnoses WHERE code IN (VALUES ('E11.9', 1))", None),
    (
        "SELECT COUNT(*) FROM diagnoses WHERE SUBSTRING(code, 0, 4) = 'E11'",
        "SELECT COUNT(*) FROM diagnoses WHERE SUBSTRING(code, 1, 3) = 'E11'",
    ),
    ("SELECT COUNT(*) FROM diagnoses WHERE SUBSTR(code, 0, 4) = 'E11'", None),
    (
        "SELECT COUNT(e.*) AS n FROM patients p LEFT JOIN encounters e ON p.patient_id = e.patient_id AND e.age > 60",
        "SELECT COUNT(e.patient_id) AS n FROM patients p LEFT JOIN encounters e ON p.patient_id = e.patient_id AND e.age > 60",
    ),
    (
        "SELECT COUNT(e.*) AS n FROM patients p LEFT JOIN encounters e USING (patient_id) WHERE sex = 'F'",
        "SELECT COUNT(e.patient_id) AS n FROM patients p LEFT JOIN encounters e USING (patient_id) WHERE sex = 'F'",
    ),
    (
        "SELECT COUNT(e.*) AS n FROM patients p LEFT JOIN encounters e ON e.age > 60 OR p.patient_id = e.patient_id",
        None,
    ),
    ("SELECT COUNT(p.*) AS n FROM patients p", None),
    (
        "SELECT COUNT(*) FROM encounters WHERE daterange(admitted, '2024-12-31', '[]') && daterange('2024-01-01', '2024-06-30', '[]')",
        "SELECT COUNT(*) FROM encounters WHERE ((admitted <= '2024-06-30' OR admitted IS NULL) AND '2024-01-01' <= '2024-12-31')",
    ),
)


def compiles(sql):
    return compile_query(sql, hospital())


@pytest.mark.parametrize(("sql", "fixed"), MENDED)
def test_what_has_one_meaning_is_written_as_the_language_has_it(sql, fixed):
    with pytest.raises(QueryError) as refused:
        compiles(sql)
    assert mended(sql, refused.value, compiles) == fixed


def test_ranges_overlap_where_postgresql_says_so():
    ends = ["'2024-01-05'", "'2024-02-01'", "NULL"]
    ask = "daterange(a, b, '[]') && daterange(c, COALESCE(d, d), '[]')"
    (condition,) = overlapping(ask, 0, None)
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT a::date AS a, b::date AS b, c::date AS c, "
            f"d::date AS d FROM (VALUES ({'), ('.join(ends)})) w(a), "
            f"(VALUES ({'), ('.join(ends)})) x(b), (VALUES ({'), ('.join(ends)})) y(c),"
            f" (VALUES ({'), ('.join(ends)})) z(d) WHERE (a <= b) IS NOT FALSE "
            "AND (c <= d) IS NOT FALSE"
        )
        rows = connection.execute(f"SELECT a, b, c, d, {condition} FROM t").fetchall()
    assert len(rows) == 64
    for a, b, c, d, found in rows:  # an end that is missing is no end
        meets = (a is None or d is None or a <= d) and (
            c is None or b is None or c <= b
        )
        assert found is meets
