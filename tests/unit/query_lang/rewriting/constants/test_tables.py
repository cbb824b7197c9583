"""Rows of literals in a text: the same question as in the language's own words."""

# ruff: noqa: E501 - a text is one string, to be read

import pytest

from privacy.errors import QueryError
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

BANDS = "SELECT {} AS band, COUNT(*) AS n FROM encounters AS e {}GROUP BY 1"
OLD = "CASE WHEN e.age BETWEEN 0 AND 59 THEN 'young' ELSE 'old' END"
KEPT = "WHERE e.age BETWEEN 0 AND 59 OR e.age BETWEEN 60 AND 120 "
VALUES = "(VALUES (0, 59, 'young'), (60, 120, 'old')) AS b(low, high, name)"
YEARS = "SELECT {} AS y, COUNT(e.encounter_id) AS n FROM {} GROUP BY 1"
KEY = "CASE WHEN e.year = 2023 THEN 2023 ELSE 2024 END"
OF_KEY = YEARS.format(KEY, "encounters AS e WHERE e.year IN (2023, 2024)")
SAME = (
    (
        BANDS.format("b.name", f"JOIN {VALUES} ON e.age BETWEEN b.low AND b.high "),
        BANDS.format(OLD, KEPT),
    ),
    (  # the order of FROM, and where the condition stands
        f"SELECT b.name AS band, COUNT(*) AS n FROM {VALUES}, encounters AS e WHERE e.age BETWEEN b.low AND b.high GROUP BY b.name",
        BANDS.format(OLD, KEPT),
    ),
    (
        YEARS.format(
            "s.y",
            "generate_series(2023, 2024) AS s(y) LEFT JOIN encounters AS e ON e.year = s.y",
        ),
        OF_KEY,
    ),
    (
        YEARS.format(
            "y",
            "encounters AS e RIGHT JOIN UNNEST(GENERATE_ARRAY(2023, 2024)) AS y ON e.year = y",
        ),
        OF_KEY,
    ),
    (
        YEARS.format(
            "s.y", "range(2023, 2025) AS s(y) JOIN encounters AS e ON s.y = e.year"
        ),
        OF_KEY,
    ),
    (
        "WITH c(code) AS (VALUES ('I10'), ('E11.9')) SELECT COUNT(*) AS n FROM diagnoses WHERE code NOT IN (SELECT code FROM c)",
        "SELECT COUNT(*) AS n FROM diagnoses WHERE code NOT IN ('I10', 'E11.9')",
    ),
    (
        "WITH c AS (SELECT 'I10' AS code UNION ALL SELECT 'E11.9') SELECT COUNT(*) AS n FROM diagnoses JOIN c USING (code)",
        "SELECT COUNT(*) AS n FROM diagnoses WHERE code IN ('I10', 'E11.9')",
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT patient_id, MIN(admitted) FROM encounters GROUP BY patient_id) AS f(who, day) WHERE day >= '2024-01-01'",
        "SELECT COUNT(*) AS n FROM (SELECT patient_id, MIN(admitted) AS day FROM encounters GROUP BY patient_id) AS f WHERE day >= '2024-01-01'",
    ),
    (  # the name that USING ties is the private table's
        "SELECT code, COUNT(*) AS n FROM diagnoses JOIN (VALUES ('I10'), ('E11.9')) AS v(code) USING (code) GROUP BY code",
        "SELECT code, COUNT(*) AS n FROM diagnoses WHERE code IN ('I10', 'E11.9') GROUP BY code",
    ),
    (
        "SELECT COUNT(*) AS n FROM diagnoses LEFT JOIN (VALUES ('I10', 'x')) AS v(code, kind) USING (code) WHERE code = 'J44.1'",
        "SELECT COUNT(*) AS n FROM diagnoses WHERE code = 'J44.1'",
    ),
    (
        "SELECT COUNT(*) AS n FROM patients AS p JOIN diagnoses AS d USING (patient_id) JOIN (VALUES ('I10'), ('E11.9')) AS v(code) USING (code)",
        "SELECT COUNT(*) AS n FROM patients AS p JOIN diagnoses AS d USING (patient_id) WHERE d.code IN ('I10', 'E11.9')",
    ),
    (
        "SELECT year, COUNT(*) AS n FROM (VALUES (1999, 'x')) AS v(year, g) RIGHT JOIN encounters USING (year) GROUP BY year",
        "SELECT year, COUNT(*) AS n FROM encounters GROUP BY year",
    ),
    (  # and the text's where that one stays
        YEARS.format(
            "year",
            "generate_series(2023, 2024) AS s(year) LEFT JOIN encounters AS e USING (year)",
        ),
        OF_KEY,
    ),
    (  # two of them tie one column of a third table
        "SELECT w.h AS h, COUNT(*) AS n FROM encounters LEFT JOIN (VALUES ('surgery', 'x')) AS v(department, g) USING (department) LEFT JOIN (VALUES ('surgery', 'a'), ('internal', 'b')) AS w(department, h) USING (department) GROUP BY w.h",
        "SELECT CASE WHEN department = 'surgery' THEN 'a' WHEN department = 'internal' THEN 'b' END AS h, COUNT(*) AS n FROM encounters GROUP BY 1",
    ),
    (
        "WITH f(who, y) AS (SELECT patient_id AS p, year AS z FROM encounters GROUP BY p, z) SELECT y, COUNT(*) AS n FROM f GROUP BY y",
        "WITH f AS (SELECT patient_id, year AS y FROM encounters GROUP BY patient_id, year) SELECT y, COUNT(*) AS n FROM f GROUP BY y",
    ),
)


def question(sql):
    return compile_query(sql, hospital()).canonical


@pytest.mark.parametrize(("written", "own"), SAME)
def test_rows_in_the_text_are_the_same_question_as_its_own_words(written, own):
    assert question(written) == question(own)


def refusal(sql):
    with pytest.raises(QueryError) as caught:
        compile_query(sql, hospital())
    return caught.value.rule


REFUSED = (
    ("SELECT COUNT(*) FROM (VALUES (1), (2)) AS v(x)", "constant_rows"),
    ("SELECT x, COUNT(*) FROM generate_series(1, 3) AS x GROUP BY x", "constant_rows"),
    (
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES (1), (2, 3)) AS v(x) ON e.age = v.x",
        "constant_rows",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES (e.age)) AS v(x) ON e.age = v.x",
        "constant_rows",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN generate_series(1, 300) AS v(x) ON e.age = v.x",
        "constant_rows",
    ),
    (  # a month later than 31 January differs between systems
        "SELECT COUNT(*) FROM encounters e JOIN generate_series('2024-01-31'::date, '2024-12-31'::date, INTERVAL '1 month') AS v(x) ON e.admitted = v.x",
        "constant_rows",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN generate_series(1, 3, 0) AS v(x) ON e.age = v.x",
        "constant_rows",
    ),
    (  # COUNT(*) would count the literal itself
        "SELECT s.y, COUNT(*) FROM generate_series(2023, 2024) AS s(y) LEFT JOIN encounters AS e ON e.year = s.y GROUP BY s.y",
        "constant_rows",
    ),
    (
        "SELECT COUNT(e.age) FROM generate_series(2023, 2024) AS s(y) LEFT JOIN encounters AS e ON e.year = s.y",
        "constant_rows",
    ),
    (  # rows that stay without a match, and may meet several
        "SELECT COUNT(*) FROM encounters e LEFT JOIN (VALUES (0), (60)) AS v(x) ON e.age >= v.x",
        "constant_rows",
    ),
    (
        "SELECT v.x, COUNT(*) FROM encounters e JOIN generate_series(0, 60) AS v(x) ON e.age >= v.x GROUP BY v.x",
        "constant_rows",
    ),
    (
        "WITH f(a, b, c) AS (SELECT patient_id, year FROM encounters) SELECT COUNT(*) FROM f",
        "column_list",
    ),
    (  # SQL would not know whose column it is
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES ('surgery')) AS v(department) ON department = 'surgery'",
        "ambiguous_name",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES (0), (60)) AS v(x) ON e.age >= v.x JOIN (VALUES (1), (2)) AS w(x) ON e.length_of_stay >= x",
        "ambiguous_name",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES (2022, 'x')) AS v(year, g) ON v.year = e.year JOIN (VALUES (2022, 'y')) AS w(year, h) USING (year)",
        "ambiguous_name",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES (0), (60)) AS v(age, x) ON e.age >= v.x",
        "constant_rows",
    ),
    (
        "SELECT y, COUNT(e.age) FROM patients AS p JOIN encounters AS e USING (patient_id) RIGHT JOIN generate_series(2020, 2024) AS s(year) USING (year) GROUP BY y",
        "constant_rows",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN generate_series(5, 1) AS v(x) ON e.age = v.x",
        "constant_rows",
    ),
    (  # GROUP BY ALL has one row of two alike
        "SELECT COUNT(*) FROM encounters e JOIN (SELECT d FROM (VALUES ('surgery'), ('surgery')) AS v(d) GROUP BY ALL) AS w ON w.d = e.department",
        "constant_rows",
    ),
    (  # days beyond all years
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES (DATE '9999-12-31')) AS v(d) ON e.admitted < v.d + INTERVAL '1 day'",
        "constant_rows",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES (DATE '0001-01-01')) AS v(d) ON e.admitted > v.d - INTERVAL '1 year'",
        "constant_rows",
    ),
    (
        "SELECT COUNT(*) FROM encounters e JOIN (VALUES (DATE '2024-01-01')) AS v(d) ON e.admitted < v.d + INTERVAL '99999999999 days'",
        "constant_rows",
    ),
    (
        "SELECT x.a, COUNT(*) FROM encounters e LEFT JOIN LATERAL (SELECT e.department AS a) AS x ON FALSE GROUP BY 1",
        "lateral_join",
    ),
    ("WITH f(a) AS (SELECT * FROM encounters) SELECT COUNT(*) FROM f", "column_list"),
    ("SELECT 1", "from_clause"),
)


@pytest.mark.parametrize(("sql", "rule"), REFUSED)
def test_rows_that_mean_nothing_beside_people_are_refused(sql, rule):
    assert refusal(sql) == rule


def test_rows_that_may_meet_several_are_counted_for_each():
    bands = "(VALUES ('all', 0), ('old', 60)) AS v(name, least)"
    sql = f"SELECT v.name, COUNT(*) AS n FROM encounters e JOIN {bands} ON e.age >= v.least GROUP BY v.name"
    compiled = compile_query(sql, hospital())
    assert [cell[0] for cell in compiled.rendered.cells] == ["all", "old"]
    assert compiled.measures[0].sensitivity.l1 == 40  # twice a patient's twenty stays


def test_rows_of_two_tables_are_counted_for_each_pair():
    sql = "SELECT v.g, w.h, COUNT(*) AS n FROM encounters AS e JOIN (VALUES ('all', 0), ('old', 60)) AS v(g, least) ON e.age >= v.least JOIN (VALUES ('any', 0), ('long', 7)) AS w(h, days) ON e.length_of_stay >= w.days GROUP BY 1, 2"
    compiled = compile_query(sql, hospital())
    assert len(compiled.rendered.cells) == 4
    assert compiled.measures[0].sensitivity.l1 == 80


def test_a_table_of_which_one_row_is_met_stands_beside_one_of_which_several_are():
    bands = "(VALUES ('all', 0), ('old', 60)) AS v(name, least)"
    sql = f"SELECT v.name, s.y, COUNT(*) AS n FROM encounters AS e CROSS JOIN {bands} JOIN generate_series(2023, 2024) AS s(y) ON e.year = s.y WHERE e.age >= v.least GROUP BY 1, 2"
    compiled = compile_query(sql, hospital())
    assert len(compiled.rendered.cells) == 4
    assert compiled.measures[0].sensitivity.l1 == 40


def test_bands_that_exclude_each_other_cost_no_more_than_the_stays():
    compiled = compile_query(SAME[0][0], hospital())
    assert compiled.measures[0].sensitivity.l1 == 20
