"""What is written into brackets in place of a column means there what it did outside."""

# ruff: noqa: E501 - a text is one string, to be read

import pytest

from privacy.errors import QueryError
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

WARDS = "(VALUES ('surgery', 'x', 50), ('internal', 'y', 30)) AS v(d, code, w)"
EARLIER = "EXISTS (SELECT 1 FROM encounters AS f WHERE f.patient_id = e.patient_id AND f.age < {})"
REFUSED = {
    "a name alone of what a key is": f"SELECT COUNT(*) FROM encounters AS e LEFT JOIN {WARDS} ON department = v.d WHERE {EARLIER.format('v.w')}",
    "a name alone of what a condition is": f"SELECT COUNT(*) FROM encounters AS e LEFT JOIN {WARDS} ON department = v.d AND age < v.w WHERE {EARLIER.format('v.w')}",
    "a name alone that LATERAL computes of": f"SELECT COUNT(*) FROM encounters AS e CROSS JOIN LATERAL (SELECT age AS a) AS x WHERE {EARLIER.format('x.a')}",
    "a name alone in IN": "SELECT COUNT(*) FROM encounters AS e CROSS JOIN LATERAL (SELECT department AS a) AS x WHERE e.patient_id IN (SELECT f.patient_id FROM encounters AS f WHERE f.department <> x.a)",
    "a name alone in a sum": f"SELECT SUM(CASE WHEN {EARLIER.format('v.w')} THEN 1 ELSE 0 END) FROM encounters AS e JOIN {WARDS} ON department = v.d",
    "a table that both have": f"SELECT COUNT(*) FROM patients AS p JOIN encounters AS e ON e.patient_id = p.patient_id LEFT JOIN {WARDS} ON e.department = v.d WHERE EXISTS (SELECT 1 FROM encounters AS e WHERE e.patient_id = p.patient_id AND e.age < v.w)",
    "a table that both have, deeper": f"SELECT COUNT(*) FROM encounters AS e LEFT JOIN {WARDS} ON e.department = v.d WHERE EXISTS (SELECT 1 FROM diagnoses AS g WHERE g.patient_id = e.patient_id AND EXISTS (SELECT 1 FROM encounters AS e WHERE e.patient_id = g.patient_id AND e.age < v.w))",
    "a table called like the rows": f"SELECT COUNT(*) FROM encounters AS e JOIN {WARDS} ON e.department = v.d WHERE EXISTS (SELECT 1 FROM diagnoses AS v WHERE v.patient_id = e.patient_id AND v.code = 'I10')",
    "a table called like rows of which several are met": f"SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM diagnoses AS v WHERE v.patient_id = e.patient_id AND v.code = 'I10') THEN 1 ELSE 0 END) FROM encounters AS e JOIN {WARDS} ON e.age > v.w",
    "a table called like one beside them": f"SELECT v.code, SUM(CASE WHEN EXISTS (SELECT 1 FROM labs AS e WHERE e.patient_id = p.patient_id AND e.value > v.w) THEN 1 ELSE 0 END) FROM patients AS p JOIN encounters AS e ON e.patient_id = p.patient_id JOIN {WARDS} ON e.age >= v.w GROUP BY 1",
    "a table called like what LATERAL computes": "SELECT COUNT(*) FROM encounters AS e CROSS JOIN LATERAL (SELECT 'main' AS rank) AS v WHERE e.patient_id IN (SELECT v.patient_id FROM diagnoses AS v WHERE v.rank = 'secondary')",
    "a name alone that is outside, too": "SELECT COUNT(*) FROM patients AS p WHERE EXISTS (SELECT 1 FROM encounters AS e JOIN (VALUES ('surgery', 1960)) AS v(d, birth_year) ON e.department = v.d WHERE e.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM encounters AS f WHERE f.patient_id = e.patient_id AND f.year > birth_year))",
    "a table of FROM that reads them": f"SELECT COUNT(*) FROM encounters AS e JOIN {WARDS} ON e.department = v.d LEFT JOIN LATERAL (SELECT l.value FROM labs AS l WHERE l.patient_id = e.patient_id AND l.value > v.w ORDER BY l.taken LIMIT 1) AS q ON TRUE",
    "a name alone in brackets that a table and LATERAL have": "SELECT COUNT(*) FROM encounters AS e CROSS JOIN LATERAL (SELECT 5 AS department) AS x WHERE EXISTS (SELECT 1 FROM patients AS f WHERE f.patient_id = e.patient_id AND department = 'surgery')",
    "a name alone in brackets that a table and the text have": "SELECT COUNT(*) FROM encounters AS e JOIN (VALUES ('surgery')) AS v(department) ON e.department = v.department WHERE EXISTS (SELECT 1 FROM patients AS f WHERE f.patient_id = e.patient_id AND department = 'surgery')",
    "a name alone of brackets that a table and LATERAL have": "SELECT COUNT(*) FROM patients AS p WHERE EXISTS (SELECT 1 FROM encounters AS e CROSS JOIN LATERAL (SELECT 2011 AS year) AS x WHERE e.patient_id = p.patient_id AND year = 2011)",
    "a name alone in LATERAL that a table and the text have": "SELECT COUNT(*) FROM encounters AS e JOIN (VALUES ('surgery', 1), ('internal', 2)) AS v(department, zone) ON e.department = v.department LEFT JOIN LATERAL (SELECT l.value FROM labs AS l WHERE l.patient_id = e.patient_id AND department = 'surgery' ORDER BY l.taken LIMIT 1) AS q ON TRUE",
    "a name alone that two of LATERAL have": "SELECT SUM(w) AS s FROM encounters AS e CROSS JOIN LATERAL (SELECT e.age + 1000 AS w) AS a CROSS JOIN LATERAL (SELECT e.age AS w) AS b",
    "a column of LATERAL's own list": "SELECT x.b, COUNT(*) FROM encounters AS e CROSS JOIN LATERAL (SELECT e.department AS year, year AS b) AS x GROUP BY x.b",
}


def rule(sql):
    with pytest.raises(QueryError) as caught:
        compile_query(sql, hospital())
    return caught.value.rule


@pytest.mark.parametrize("kind", REFUSED)
def test_what_may_be_another_column_in_brackets_is_refused(kind):
    assert rule(REFUSED[kind]) == "ambiguous_name"


@pytest.mark.parametrize(
    "joined",
    [
        "JOIN (VALUES ('surgery', 5)) AS e(d, age) ON e.department = e.d",
        "CROSS JOIN LATERAL (SELECT 5 AS age) AS e",
        "JOIN (VALUES ('surgery')) AS v(d) ON v.d = e.department JOIN (VALUES (5)) AS v(w) ON v.w = e.age",
    ],
)
def test_tables_of_one_from_have_different_names(joined):
    sql = f"SELECT COUNT(*) FROM encounters AS e {joined}"
    assert rule(sql) == "ambiguous_name"


@pytest.mark.parametrize(
    "shown",
    [
        "COUNT(*)",
        "SUM(e.age)",
        "ROW_NUMBER() OVER (PARTITION BY e.patient_id ORDER BY e.encounter_id)",
        "STRING_AGG(DISTINCT e.department, '+')",
        "COUNTIF(e.age > 5)",
        "COUNT(*) FILTER (WHERE e.age > 5)",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY e.age)",
    ],
)
def test_lateral_of_one_row_has_no_aggregates_and_no_windows(shown):
    sql = f"SELECT COUNT(*) FROM (SELECT e.patient_id, x.a FROM encounters AS e CROSS JOIN LATERAL (SELECT {shown} AS a) AS x) AS q"
    assert rule(sql) == "lateral_join"


def test_brackets_read_literals_by_tables_that_they_do_not_have():
    earlier = EARLIER.format(
        "CASE WHEN e.department = 'surgery' THEN 50 WHEN e.department = 'internal' THEN 30 END"
    )
    read = f"SELECT COUNT(*) AS n FROM encounters AS e LEFT JOIN {WARDS} ON e.department = v.d WHERE {EARLIER.format('v.w')}"
    own = f"SELECT COUNT(*) AS n FROM encounters AS e WHERE {earlier}"
    questions = {compile_query(sql, hospital()).canonical for sql in (read, own)}
    assert len(questions) == 1


LATER = "JOIN (VALUES (2020, 'x'), (2024, 'y')) AS v(y, g) ON v.y >= e.year"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM (SELECT e.patient_id, v.g AS department, COUNT(*) AS m FROM encounters AS e {LATER} GROUP BY e.patient_id, v.g, department) AS q WHERE q.m > 1",
        f"SELECT v.g AS department, COUNT(*) AS n FROM encounters AS e {LATER} GROUP BY v.g, department",
        f"SELECT v.g AS department, COUNT(*) AS n FROM encounters AS e {LATER} GROUP BY department",
        f"SELECT v.g AS department, COUNT(*) AS n FROM encounters AS e {LATER} GROUP BY ROLLUP (v.g, department)",
    ],
)
def test_a_key_called_like_an_alias_is_the_column_or_refused(sql):
    assert rule(sql) == "ambiguous_name"


@pytest.mark.parametrize(
    ("shown", "keys"),
    [
        ("v.g AS band, e.department AS department", "band, department"),
        ("v.g AS g, department AS department", "g, department"),
        ("v.g AS band, e.department AS ward", "1, ward"),
    ],
)
def test_aliases_that_are_no_other_column_are_keys(shown, keys):
    compile_query(
        f"SELECT {shown}, COUNT(*) AS n FROM encounters AS e {LATER} GROUP BY {keys}",
        hospital(),
    )


def test_a_name_that_lateral_and_a_table_have_is_refused_alone():
    lateral = "CROSS JOIN LATERAL (SELECT CASE WHEN e.age > 50 THEN 3 ELSE 100 END AS {}) AS x"
    sql = f"SELECT COUNT(*) AS n FROM encounters AS e {lateral} WHERE {{}} > 50"
    assert rule(sql.format("age", "age")) == "ambiguous_name"
    for name, read in (("age", "x.age"), ("band", "band"), ("age", "e.age")):
        compile_query(sql.format(name, read), hospital())


@pytest.mark.parametrize(
    "joined",
    [
        "CROSS JOIN LATERAL (SELECT e.age + 40 AS age) AS x CROSS JOIN LATERAL (SELECT CASE WHEN age > 60 THEN 1 ELSE 0 END AS b) AS y WHERE y.b = 1",
        "CROSS JOIN LATERAL (SELECT e.age + 40 AS z) AS x JOIN (VALUES (1, 2020), (2, 2021)) AS v(z, y) ON v.y = e.year WHERE z > 1",
    ],
)
def test_names_of_two_computed_tables_are_refused_alone(joined):
    assert (
        rule(f"SELECT COUNT(*) AS n FROM encounters AS e {joined}") == "ambiguous_name"
    )


@pytest.mark.parametrize(
    "joined",
    [
        "CROSS JOIN LATERAL (SELECT 1 AS x) AS p",
        "JOIN (VALUES ('surgery', 1)) AS p(d, x) ON e.department = p.d",
    ],
)
@pytest.mark.parametrize(
    "more", ["p.patient_id", "(SELECT COUNT(*) FROM labs AS l WHERE l.value > p.age)"]
)
def test_a_column_that_a_table_of_brackets_lacks_is_not_one_around(joined, more):
    """The table of that name around the brackets has it; SQL does not look there."""
    sql = (
        "SELECT COUNT(*) FROM patients AS p WHERE EXISTS (SELECT 1 FROM encounters AS e "
        f"{joined} WHERE e.patient_id = {more})"
    )
    with pytest.raises(QueryError):
        compile_query(sql, hospital())
    assert rule(sql.replace(more, "p.patient_id")) == "unknown_column"


def test_tables_that_lateral_computes_are_as_many_as_those_of_literals():
    """Each is written out in all the rest: 130 of them took half a second, refused."""
    joins = " ".join(
        f"CROSS JOIN LATERAL (SELECT e.age + {n} AS x{n}) AS l{n}" for n in range(13)
    )
    sql = f"SELECT COUNT(*) FROM encounters AS e {joins} WHERE x0 > 5"
    assert rule(sql) == "relation_count"
    last = "CROSS JOIN LATERAL (SELECT e.age + 12 AS x12) AS l12 "
    compile_query(sql.replace(last, ""), hospital())
