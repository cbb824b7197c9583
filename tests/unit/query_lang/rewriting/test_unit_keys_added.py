"""Texts with the unit key beside an id that no table declares."""
# ruff: noqa: E501 - a text is one string, to be read

from dataclasses import replace

import pytest

from privacy.errors import QueryError
from query_lang.rewriting.mending import mended
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query


def undeclared():
    """Return the demo hospital without a key of stays."""
    tables = dict(hospital().tables)
    tables["encounters"] = replace(tables["encounters"], key=())
    return replace(hospital(), tables=tables)


ADDED = (
    (
        "SELECT COUNT(*) FROM (SELECT encounter_id, COUNT(*) AS n FROM diagnoses GROUP BY encounter_id HAVING COUNT(*) > 2) AS t",
        "SELECT COUNT(*) FROM (SELECT encounter_id, COUNT(*) AS n FROM diagnoses GROUP BY patient_id, encounter_id HAVING COUNT(*) > 2) AS t",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT d.encounter_id FROM diagnoses d GROUP BY 1) AS t",
        "SELECT COUNT(*) FROM (SELECT d.encounter_id FROM diagnoses d GROUP BY patient_id, 1) AS t",
    ),
    (
        "SELECT e.department, SUM(t.n) FROM encounters e JOIN (SELECT encounter_id, COUNT(*) AS n -- (codes)\n FROM diagnoses GROUP BY encounter_id) AS t ON t.encounter_id = e.encounter_id GROUP BY e.department",
        "SELECT e.department, SUM(t.n) FROM encounters e JOIN (SELECT encounter_id, COUNT(*) AS n, patient_id -- (codes)\n FROM diagnoses GROUP BY patient_id, encounter_id) AS t ON t.patient_id = e.patient_id AND t.encounter_id = e.encounter_id GROUP BY e.department",
    ),
    (
        "WITH t AS (SELECT encounter_id, COUNT(*) AS n FROM diagnoses GROUP BY encounter_id) SELECT COUNT(*) FROM t JOIN encounters USING (encounter_id) WHERE n > 1",
        "WITH t AS (SELECT encounter_id, COUNT(*) AS n, patient_id FROM diagnoses GROUP BY patient_id, encounter_id) SELECT COUNT(*) FROM t JOIN encounters USING (patient_id, encounter_id) WHERE n > 1",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT DISTINCT encounter_id FROM diagnoses WHERE code LIKE 'E11%') AS t",
        "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, encounter_id FROM diagnoses WHERE code LIKE 'E11%') AS t",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY encounter_id ORDER BY code) AS k, FIRST_VALUE(code) OVER w AS c FROM diagnoses WINDOW w AS (PARTITION BY diagnoses.encounter_id ORDER BY code)) AS t WHERE k = 2 AND c LIKE 'E%'",
        "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient_id, encounter_id ORDER BY code) AS k, FIRST_VALUE(code) OVER w AS c FROM diagnoses WINDOW w AS (PARTITION BY patient_id, diagnoses.encounter_id ORDER BY code)) AS t WHERE k = 2 AND c LIKE 'E%'",
    ),
    (
        "SELECT COUNT(*) FROM diagnoses a JOIN diagnoses AS b ON a.encounter_id = b.encounter_id AND (a.code < b.code OR a.rank = 'main')",
        "SELECT COUNT(*) FROM diagnoses a JOIN diagnoses AS b ON b.patient_id = a.patient_id AND a.encounter_id = b.encounter_id AND (a.code < b.code OR a.rank = 'main')",
    ),
    (
        "SELECT COUNT(*) FROM diagnoses a WHERE EXISTS (SELECT 1 FROM diagnoses b WHERE a.encounter_id = b.encounter_id AND a.code < b.code)",
        "SELECT COUNT(*) FROM diagnoses a WHERE EXISTS (SELECT 1 FROM diagnoses b WHERE b.patient_id = a.patient_id AND a.encounter_id = b.encounter_id AND a.code < b.code)",
    ),
    (
        "SELECT COUNT(*) FROM encounters e WHERE e.encounter_id IN (SELECT DISTINCT encounter_id FROM diagnoses WHERE code LIKE 'E11%')",
        "SELECT COUNT(*) FROM encounters e WHERE (patient_id, e.encounter_id) IN (SELECT DISTINCT patient_id, encounter_id FROM diagnoses WHERE code LIKE 'E11%')",
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE encounter_id NOT IN (SELECT encounter_id FROM diagnoses GROUP BY encounter_id HAVING COUNT(*) > 2)",
        "SELECT COUNT(*) FROM encounters WHERE NOT EXISTS (SELECT * FROM (SELECT patient_id, encounter_id FROM diagnoses GROUP BY patient_id, encounter_id HAVING COUNT(*) > 2) AS listed WHERE listed.patient_id = encounters.patient_id AND listed.encounter_id = encounters.encounter_id)",
    ),
    (
        "SELECT COUNT(*) FROM diagnoses a LEFT JOIN LATERAL (SELECT b.code FROM diagnoses b WHERE b.encounter_id = a.encounter_id ORDER BY b.code LIMIT 1) AS x ON TRUE WHERE x.code < a.code",
        "SELECT COUNT(*) FROM diagnoses a LEFT JOIN LATERAL (SELECT b.code FROM diagnoses b WHERE b.patient_id = a.patient_id AND b.encounter_id = a.encounter_id ORDER BY b.code LIMIT 1) AS x ON TRUE WHERE x.code < a.code",
    ),
    (
        "SELECT COUNT(*) FROM diagnoses a WHERE a.code = (SELECT MIN(b.code) FROM diagnoses b WHERE b.encounter_id = a.encounter_id)",
        "SELECT COUNT(*) FROM diagnoses a WHERE a.code = (SELECT MIN(b.code) FROM diagnoses b WHERE b.patient_id = a.patient_id AND b.encounter_id = a.encounter_id)",
    ),
    (
        "SELECT COUNT(*) FROM diagnoses a WHERE (SELECT COUNT(*) FROM diagnoses b WHERE b.encounter_id = a.encounter_id AND b.code < a.code) > 1",
        "SELECT COUNT(*) FROM diagnoses a WHERE (SELECT COUNT(*) FROM diagnoses b WHERE b.patient_id = a.patient_id AND b.encounter_id = a.encounter_id AND b.code < a.code) > 1",
    ),
)


def refused(sql):
    with pytest.raises(QueryError) as caught:
        compile_query(sql, undeclared())
    return caught.value


def offered(sql):
    return mended(sql, refused(sql), lambda text: compile_query(text, undeclared()))


@pytest.mark.parametrize(("sql", "fixed"), ADDED)
def test_the_unit_key_is_offered_beside_an_id(sql, fixed):
    assert offered(sql) == fixed
    assert "if no two patients share one encounter_id" in refused(sql).hint


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM (SELECT year FROM encounters GROUP BY year) AS t",
        "SELECT COUNT(*) FROM (SELECT code FROM diagnoses GROUP BY code) AS t",
        "SELECT COUNT(*) FROM encounters a JOIN encounters b ON a.year = b.year",
        "SELECT COUNT(*) FROM (SELECT LAG(age) OVER (PARTITION BY department ORDER BY year) FROM encounters) AS t",
        "SELECT COUNT(*) FROM encounters WHERE age IN (SELECT age FROM encounters)",
        "SELECT COUNT(*) FROM encounters e WHERE EXISTS (SELECT 1 FROM labs l WHERE l.taken = e.admitted)",
        "SELECT COUNT(*) FROM (SELECT department, (SELECT COUNT(*) FROM diagnoses) AS n FROM encounters GROUP BY encounter_id) AS t",
    ],
)
def test_what_is_no_id_gets_no_unit_key(sql):
    assert offered(sql) is None
