"""Texts as people type them mean what plain SQL over the same rows finds."""

# ruff: noqa: E501 - a text is one string, to be read

import random
from decimal import Decimal

import pytest

from tests.semantics.engine import exact_vectors
from tests.semantics.typed.plain_sql import as_found, both, ours, plain
from tests.unit.query_lang.rewriting.test_unit_keys_added import ADDED

DM = "SELECT patient_id FROM diagnoses WHERE code LIKE 'E11%'"
STRATA = "SELECT CASE WHEN age < 40 THEN '0-39' WHEN age < 60 THEN '40-59' ELSE '60+' END AS band, COUNT(*) FILTER (WHERE diagnosis_group = 'circulatory') AS events, COUNT(*) AS stays FROM encounters GROUP BY 1"
TEXTS = (
    # rows in the text
    "SELECT b.label, COUNT(*) FROM encounters e JOIN (VALUES (0, 17, 'child'), (18, 64, 'adult'), (65, 120, 'old')) AS b(lo, hi, label) ON e.age BETWEEN b.lo AND b.hi GROUP BY b.label",
    "SELECT w.part, COUNT(DISTINCT e.patient_id) FROM encounters e, (VALUES ('one', DATE '2020-01-01', DATE '2021-07-01'), ('two', DATE '2021-07-01', DATE '2023-01-01')) AS w(part, first, last) WHERE e.admitted >= w.first AND e.admitted < w.last GROUP BY w.part",
    "SELECT w.part, COUNT(*), COUNT(DISTINCT e.patient_id) FROM (VALUES ('all', 0), ('old', 60), ('oldest', 80)) AS w(part, least) JOIN encounters e ON e.age >= w.least GROUP BY w.part",
    "WITH codes(code, kind) AS (VALUES ('E11.9', 'dm'), ('E11.2', 'dm'), ('I10', 'htn')) SELECT kind, COUNT(DISTINCT d.patient_id) FROM diagnoses d JOIN codes USING (code) GROUP BY kind",
    "WITH codes(code) AS (VALUES ('E11.9'), ('I10')) SELECT COUNT(*) FROM diagnoses WHERE code IN (SELECT code FROM codes)",
    "WITH codes AS (SELECT 'E11' AS stem, 'dm' AS kind UNION ALL SELECT 'I10', 'htn') SELECT c.kind, COUNT(DISTINCT d.patient_id) FROM diagnoses d JOIN codes c ON d.code LIKE c.stem || '%' GROUP BY c.kind",
    "SELECT m::date AS month, COUNT(e.encounter_id) AS stays FROM generate_series('2024-01-01'::date, '2024-12-01'::date, INTERVAL '1 month') AS s(m) LEFT JOIN encounters e ON DATE_TRUNC('month', e.admitted) = m GROUP BY 1",
    "SELECT s.y, COUNT(e.encounter_id) FROM generate_series(2018, 2027) AS s(y) LEFT JOIN encounters e ON e.year = s.y AND e.department = 'surgery' GROUP BY s.y",
    "SELECT s.d, COUNT(*) AS present FROM (SELECT d::date AS d FROM generate_series('2024-03-01'::date, '2024-03-08'::date, INTERVAL '1 day') AS x(d)) s JOIN encounters e ON s.d >= e.admitted AND s.d < e.admitted + e.length_of_stay::int GROUP BY s.d",
    "SELECT CASE WHEN v.name IS NULL THEN 'none' ELSE v.name END AS kind, COUNT(*) FROM encounters e LEFT JOIN (VALUES ('surgery', 'cut'), ('internal', 'not')) AS v(dept, name) ON v.dept = e.department GROUP BY 1",
    "SELECT x.decade, COUNT(*) AS n FROM encounters e CROSS JOIN LATERAL (SELECT e.age - e.age % 10 AS decade) x GROUP BY x.decade",
    "SELECT y.half, COUNT(*) AS n FROM encounters e CROSS JOIN LATERAL (SELECT e.age - e.age % 10 AS decade) x CROSS JOIN LATERAL (SELECT x.decade >= 50 AS half) y GROUP BY y.half",
    "SELECT v.kind, COUNT(*) FROM encounters e JOIN diagnoses d ON e.patient_id = d.patient_id AND e.encounter_id = d.encounter_id JOIN (VALUES ('I10', 'x'), ('E11.9', 'y')) AS v(code, kind) USING (code) GROUP BY v.kind",
    "SELECT department, COUNT(*) FROM encounters e LEFT JOIN (VALUES ('surgery', 'cut')) AS v(department, name) USING (department) GROUP BY department",
    "SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS p FROM diagnoses d LEFT JOIN (VALUES ('I10', 'x')) AS v(code, kind) USING (code) WHERE code LIKE 'E11%'",
    "SELECT year, COUNT(e.encounter_id) FROM generate_series(2018, 2027) AS s(year) LEFT JOIN encounters e USING (year) GROUP BY year",
    "SELECT v.g, w.h, COUNT(*) FROM encounters e LEFT JOIN (VALUES ('surgery', 'x')) AS v(department, g) USING (department) LEFT JOIN (VALUES ('surgery', 'a'), ('internal', 'b')) AS w(department, h) USING (department) GROUP BY 1, 2",
    "SELECT w.label, s.y, COUNT(*) FROM encounters e CROSS JOIN (VALUES ('old', 60), ('all', 0)) AS w(label, least) JOIN generate_series(2020, 2025) AS s(y) ON e.year = s.y WHERE e.age >= w.least GROUP BY 1, 2",
    "SELECT v0.n0, v1.n1, COUNT(*) FROM encounters e JOIN (VALUES (1, 'a'), (60, 'b')) AS v0(a0, n0) ON e.age >= v0.a0 JOIN (VALUES (3, 'c'), (4, 'd')) AS v1(a1, n1) ON e.length_of_stay >= v1.a1 GROUP BY 1, 2",
    # answers of several tables, and of groups
    f"SELECT 'all' AS step, COUNT(DISTINCT patient_id) AS n FROM encounters UNION ALL SELECT 'dm', COUNT(DISTINCT patient_id) FROM ({DM}) AS d UNION ALL SELECT 'metformin', COUNT(DISTINCT patient_id) FROM prescriptions WHERE drug = 'metformin'",
    f"WITH dm AS ({DM} GROUP BY patient_id), met AS (SELECT DISTINCT patient_id FROM prescriptions WHERE drug = 'metformin') SELECT 1 AS nr, 'dm' AS step, COUNT(*) AS n FROM dm UNION ALL SELECT 2, 'both', COUNT(*) FROM dm JOIN met USING (patient_id)",
    "SELECT department, COUNT(*) AS n, AVG(age) AS age FROM encounters GROUP BY department UNION ALL SELECT 'total', COUNT(*), AVG(age) FROM encounters",
    f"SELECT (SELECT COUNT(DISTINCT patient_id) FROM ({DM}) AS d) * 100.0 / (SELECT COUNT(*) FROM patients) AS share",
    "SELECT (SELECT COUNT(*) FROM encounters WHERE age >= 60) * 1.0 / (SELECT COUNT(*) FROM encounters) AS share",
    f"WITH n AS (SELECT COUNT(DISTINCT patient_id) AS k FROM ({DM}) AS d), m AS (SELECT COUNT(*) AS k FROM patients) SELECT n.k AS some, m.k AS many, 100.0 * n.k / m.k AS share FROM n CROSS JOIN m",
    "SELECT COUNT(DISTINCT patient_id) * 1.0 / (SELECT COUNT(*) FROM patients) AS share FROM labs WHERE abnormal",
    "SELECT SUM(n) AS n, AVG(n) AS mean, MAX(n) AS most FROM (SELECT year, COUNT(*) AS n FROM encounters GROUP BY year) AS y",
    f"WITH std(band, w) AS (VALUES ('0-39', 0.5), ('40-59', 0.3), ('60+', 0.2)), strata AS ({STRATA}) SELECT 1000 * SUM(w * events / CAST(stays AS decimal(18, 6))) AS rate FROM strata JOIN std USING (band)",
    "WITH old AS (SELECT DISTINCT patient_id FROM encounters WHERE age >= 60), ill AS (SELECT DISTINCT patient_id FROM labs WHERE abnormal), both_ AS (SELECT old.patient_id FROM old JOIN ill USING (patient_id)), left_ AS (SELECT patient_id FROM both_ WHERE patient_id NOT IN (SELECT patient_id FROM prescriptions WHERE drug = 'insulin')) SELECT 1 AS nr, COUNT(*) AS n FROM old UNION ALL SELECT 2, COUNT(*) FROM both_ UNION ALL SELECT 3, COUNT(*) FROM left_",
    "WITH old AS (SELECT DISTINCT patient_id FROM encounters WHERE age >= 60), ill AS (SELECT DISTINCT patient_id FROM labs WHERE abnormal) SELECT 1 AS nr, COUNT(*) AS n FROM old UNION ALL SELECT 2, COUNT(*) FROM old RIGHT JOIN ill USING (patient_id)",
    f"SELECT 'all' AS step, COUNT(*) AS n FROM patients UNION ALL SELECT 'dm', COUNT(*) FROM (SELECT DISTINCT patient_id FROM ({DM}) AS d) AS e",
    "SELECT 'all' AS step, COUNT(*) AS n FROM patients UNION ALL SELECT 'stayed', COUNT(DISTINCT patient_id) FROM encounters UNION ALL SELECT 'women', COUNT(*) FROM patients WHERE sex = 'F'",
    f"SELECT 'old' AS step, 100 * COUNT(*) AS n FROM patients p JOIN ({DM} GROUP BY patient_id) AS d ON d.patient_id = p.patient_id WHERE birth_year < 1960 UNION ALL SELECT 'drug', 100 * COUNT(DISTINCT patient_id) FROM prescriptions WHERE drug = 'metformin'",
    "WITH t AS (SELECT COUNT(*) AS n FROM encounters) SELECT department, 100.0 * COUNT(*) / MAX(t.n) AS share FROM encounters CROSS JOIN t GROUP BY department",
    "WITH t AS (SELECT COUNT(*) AS n, SUM(age) AS years FROM encounters WHERE year = 2022) SELECT department, COUNT(*) * 1.0 / AVG(t.n) AS share, SUM(age) * 1.0 / MIN(t.years) AS old FROM encounters, t WHERE year = 2022 GROUP BY department",
    # values in brackets that belong to each row
    "SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM encounters e WHERE e.patient_id = p.patient_id) >= 3",
    "SELECT COUNT(*) FROM patients WHERE (SELECT COUNT(*) FROM labs WHERE labs.patient_id = patients.patient_id AND abnormal) = 0",
    "SELECT p.sex, AVG((SELECT COUNT(*) FROM encounters e WHERE e.patient_id = p.patient_id)) FROM patients p GROUP BY p.sex",
    "SELECT n, COUNT(*) FROM (SELECT *, LEAST((SELECT COUNT(*) FROM encounters e WHERE e.patient_id = p.patient_id), 5) AS n FROM patients p) AS t GROUP BY n",
    "SELECT department, COUNT(*) FROM encounters WHERE (patient_id, admitted) IN (SELECT patient_id, MIN(admitted) FROM encounters GROUP BY patient_id) GROUP BY department",
    "SELECT COUNT(*) FROM encounters e WHERE (e.length_of_stay, patient_id, e.age) IN (SELECT MAX(length_of_stay), patient_id, age + 0 FROM encounters WHERE year >= 2022 GROUP BY patient_id, age) OR e.age = 60",
    "SELECT COUNT(*) FROM encounters WHERE (patient_id, discharged_to) IN (SELECT patient_id, MAX(discharged_to) FROM encounters GROUP BY 1 HAVING COUNT(*) > 1)",
    "SELECT department, COUNT(*) FROM encounters e WHERE e.admitted = (SELECT MIN(x.admitted) FROM encounters x WHERE x.patient_id = e.patient_id) GROUP BY department",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT COALESCE(SUM(e.length_of_stay), 0) + COUNT(*) FROM encounters e WHERE e.patient_id = p.patient_id AND e.year = 2024) > 5",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT SUM(e.length_of_stay) FROM encounters e WHERE e.patient_id = p.patient_id AND e.year = 2024) IS NULL",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) > 2 FROM encounters e WHERE e.patient_id = p.patient_id)",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT MAX(age) FROM encounters e WHERE e.patient_id = p.patient_id) - (SELECT MIN(age) FROM encounters e WHERE e.patient_id = p.patient_id) >= 2",
    "SELECT p.sex, SUM(CASE WHEN (SELECT COUNT(*) FROM encounters e WHERE e.patient_id = p.patient_id) > 1 THEN 1 ELSE 0 END) FROM patients p GROUP BY p.sex",
    "SELECT CASE WHEN (SELECT COUNT(DISTINCT d.code) FROM diagnoses d WHERE d.patient_id = p.patient_id) > 2 THEN 'many' ELSE 'few' END AS k, COUNT(*) FROM patients p GROUP BY k",
    "SELECT p.sex, COUNT(*) FROM patients p WHERE (SELECT e.department FROM encounters e WHERE e.patient_id = p.patient_id ORDER BY e.admitted DESC, e.encounter_id DESC LIMIT 1) = 'surgery' GROUP BY p.sex",
    "SELECT (SELECT p.sex FROM patients p WHERE p.patient_id = e.patient_id) AS s, COUNT(*) FROM encounters e GROUP BY s",
    "SELECT department, COUNT(*) FROM encounters e WHERE (SELECT COUNT(*) FROM diagnoses d WHERE d.encounter_id = e.encounter_id) >= 3 GROUP BY department",
    "SELECT COUNT(*) FROM diagnoses d WHERE (SELECT e.department FROM encounters e WHERE e.encounter_id = d.encounter_id) = 'surgery'",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM encounters e JOIN diagnoses d USING (patient_id, encounter_id) WHERE e.patient_id = p.patient_id AND d.code LIKE 'E11%') > 1",
    "SELECT e.department, COUNT(*) FROM encounters e WHERE (SELECT COUNT(*) FROM encounters x WHERE x.patient_id = e.patient_id AND x.department = e.department) >= 2 GROUP BY e.department",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT e.age AS admitted FROM encounters e WHERE e.patient_id = p.patient_id ORDER BY admitted DESC LIMIT 1) > 60",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT e.age % 7 AS k FROM encounters e WHERE e.patient_id = p.patient_id ORDER BY k DESC, e.age LIMIT 1) = 6",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT e.age % 7 FROM encounters e WHERE e.patient_id = p.patient_id ORDER BY 1 DESC LIMIT 1) = 6",
    # ids of things that belong to one patient
    "WITH f AS (SELECT encounter_id, COUNT(*) AS n FROM diagnoses GROUP BY encounter_id) SELECT e.department, COUNT(*) AS stays, AVG(f.n) AS codes FROM f JOIN encounters e USING (encounter_id) GROUP BY e.department",
    "SELECT e.department, COUNT(*), SUM(COALESCE(v.n, 0)) FROM encounters e LEFT JOIN (SELECT encounter_id, COUNT(*) AS n FROM diagnoses WHERE code LIKE 'E11%' GROUP BY encounter_id HAVING COUNT(*) >= 1) v ON v.encounter_id = e.encounter_id GROUP BY e.department",
    "SELECT n, COUNT(*) FROM (SELECT d.encounter_id AS stay, LEAST(COUNT(*), 5) AS n FROM diagnoses d GROUP BY 1) t GROUP BY n",
    "SELECT COUNT(*) FROM (SELECT DISTINCT encounter_id FROM diagnoses WHERE code LIKE 'E11%') AS t",
    "SELECT COUNT(*) FROM (SELECT encounter_id FROM diagnoses WHERE code LIKE 'E11%' UNION SELECT encounter_id FROM encounters WHERE age > 70) AS t",
    "SELECT COUNT(*) FROM (SELECT encounter_id FROM diagnoses WHERE code LIKE 'E11%' INTERSECT SELECT encounter_id FROM encounters WHERE age > 70) AS t",
    "SELECT COUNT(*) FROM (SELECT encounter_id FROM encounters WHERE age > 70 EXCEPT SELECT encounter_id FROM diagnoses WHERE code LIKE 'E11%') AS t",
    "SELECT k, COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY encounter_id ORDER BY rank, code) AS k FROM diagnoses) AS t WHERE k <= 3 GROUP BY k",
    "SELECT COUNT(*) FROM (SELECT DISTINCT encounter_id, FIRST_VALUE(code) OVER w AS one, LAST_VALUE(code) OVER w AS other FROM diagnoses WINDOW w AS (PARTITION BY encounter_id ORDER BY rank, code ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS t WHERE one <> other",
    "SELECT COUNT(*) FROM (SELECT code FROM diagnoses QUALIFY ROW_NUMBER() OVER (PARTITION BY encounter_id ORDER BY rank, code) = 1) AS t WHERE code LIKE 'E11%'",
    "SELECT COUNT(*) FROM diagnoses a JOIN diagnoses b ON a.encounter_id = b.encounter_id AND a.code < b.code WHERE a.code LIKE 'E11%'",
    "SELECT COUNT(*) FROM (SELECT a.encounter_id FROM diagnoses a JOIN diagnoses b ON a.encounter_id = b.encounter_id AND a.code < b.code GROUP BY a.encounter_id) AS t",
    "SELECT department, COUNT(*) FROM encounters WHERE encounter_id IN (SELECT encounter_id FROM diagnoses WHERE code LIKE 'E11%') GROUP BY department",
    "SELECT department, COUNT(*) FROM encounters WHERE encounter_id NOT IN (SELECT encounter_id FROM diagnoses GROUP BY encounter_id HAVING COUNT(*) > 2) GROUP BY department",
    "SELECT department, COUNT(*) FILTER (WHERE encounter_id IN (SELECT encounter_id FROM diagnoses WHERE code LIKE 'E11%')) AS dm FROM encounters GROUP BY department",
    "SELECT COUNT(*) FROM diagnoses d WHERE d.encounter_id IN (SELECT x.encounter_id FROM diagnoses x WHERE x.code > d.code)",
    "SELECT COUNT(*) FROM diagnoses WHERE encounter_id NOT IN (SELECT encounter_id FROM encounters WHERE age > 50 UNION ALL SELECT encounter_id FROM diagnoses WHERE code LIKE 'I10%')",
    "SELECT COUNT(*) FROM diagnoses d WHERE NOT EXISTS (SELECT 1 FROM diagnoses x WHERE x.encounter_id = d.encounter_id AND x.code > d.code)",
    "SELECT COUNT(*) FROM diagnoses d WHERE (SELECT COUNT(*) FROM diagnoses x WHERE x.encounter_id = d.encounter_id) >= 3",
    "SELECT COUNT(*) FROM diagnoses d JOIN (SELECT encounter_id, MIN(code) AS least FROM diagnoses GROUP BY encounter_id) m ON m.encounter_id = d.encounter_id WHERE d.code > m.least",
    "SELECT COUNT(*) FROM diagnoses d LEFT JOIN LATERAL (SELECT x.code FROM diagnoses x WHERE x.encounter_id = d.encounter_id ORDER BY x.code DESC LIMIT 1) AS last ON TRUE WHERE last.code LIKE 'E11%'",
    # aggregates of the rows that each row meets
    "SELECT e.department, AVG(x.n) AS codes FROM encounters e CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM diagnoses d WHERE d.encounter_id = e.encounter_id AND d.code LIKE 'E%') x GROUP BY e.department",
    "SELECT n, COUNT(*) FROM encounters e LEFT JOIN LATERAL (SELECT LEAST(COUNT(*), 4) AS n, MIN(d.code) AS least FROM diagnoses d WHERE d.encounter_id = e.encounter_id AND d.code LIKE 'I%') x ON TRUE WHERE least IS NULL OR least > 'I1' GROUP BY n",
    "SELECT COUNT(*) FROM encounters e WHERE (SELECT COUNT(*) FROM encounters x WHERE x.patient_id = e.patient_id AND x.admitted BETWEEN e.admitted - INTERVAL '90 days' AND e.admitted) >= 2",
    "SELECT e.department, COUNT(*) AS n, SUM(CASE WHEN (SELECT MIN(r.started) FROM prescriptions r WHERE r.patient_id = e.patient_id AND r.started > e.admitted) < e.admitted + INTERVAL '90 days' THEN 1 ELSE 0 END) AS soon FROM encounters e GROUP BY e.department",
    "SELECT e.department, SUM(x.n) AS n, SUM(x.days) AS days, COUNT(x.days) AS some FROM encounters e CROSS JOIN LATERAL (SELECT COUNT(r.drug) AS n, SUM(r.days_supply) AS days FROM prescriptions r WHERE r.patient_id = e.patient_id AND r.started >= e.admitted) x GROUP BY e.department",
    "SELECT department, COUNT(*) FROM encounters e WHERE (SELECT COUNT(*) FROM encounters x WHERE x.patient_id = e.patient_id AND x.admitted < e.admitted) = 0 GROUP BY department",
    "SELECT COUNT(*) FROM encounters e WHERE (SELECT AVG(x.length_of_stay) FROM encounters x WHERE x.patient_id = e.patient_id AND x.admitted < e.admitted) > 5",
    "SELECT COUNT(*) FROM encounters e WHERE (SELECT BOOL_OR(l.abnormal) FROM labs l WHERE l.patient_id = e.patient_id AND l.taken < e.admitted) IS NULL",
    "SELECT COUNT(*) FROM encounters e WHERE (SELECT COALESCE(SUM(x.length_of_stay), 0) + COUNT(*) FROM encounters x WHERE x.patient_id = e.patient_id AND x.encounter_id <> e.encounter_id AND x.department = e.department) > 5",
    # bounds that follow from conditions; plain SQL takes 30 days for a month of an age, of which these lengths meet none
    "SELECT department, SUM(length_of_stay) FILTER (WHERE age >= 60), AVG(length_of_stay * 24), SUM(CASE WHEN age < 40 THEN length_of_stay WHEN length_of_stay > 20 THEN 2 * length_of_stay END) FROM encounters WHERE length_of_stay <= 30 GROUP BY department",
    "SELECT SUM(CASE WHEN length_of_stay < 5 THEN length_of_stay * 2 WHEN NOT (length_of_stay >= 30) THEN 30 - length_of_stay ELSE LEAST(length_of_stay, 40) END) FROM encounters",
    "SELECT SUM(COALESCE(NULLIF(length_of_stay, 3), 7)), SUM(ABS(length_of_stay - 10)), SUM(length_of_stay % 7) FROM encounters WHERE length_of_stay BETWEEN 2 AND 6",
    "SELECT AVG(ROUND(value, 0)), SUM(GREATEST(value, 5)), AVG(value / 10.0) FROM labs WHERE value BETWEEN 1 AND 9.9",
    "SELECT AVG(d), SUM(d - 24) FROM (SELECT *, length_of_stay * 24 AS d FROM encounters WHERE length_of_stay < 10) AS t WHERE age > 40",
    "SELECT SUM(d) FROM (SELECT patient_id, length_of_stay AS s, length_of_stay * 24 AS d FROM encounters) AS t WHERE s < 10",
    "SELECT COUNT(*), AVG(l.taken - e.admitted), SUM(e.admitted - l.taken), SUM(DATEDIFF('month', e.admitted, l.taken)), SUM(DATEDIFF('year', e.admitted, l.taken)) FROM encounters e JOIN labs l ON e.patient_id = l.patient_id AND l.taken BETWEEN e.admitted AND e.admitted + INTERVAL '90 days'",
    "SELECT SUM(l.taken - e.admitted), SUM(EXTRACT(YEAR FROM AGE(l.taken, e.admitted))) FROM encounters e JOIN labs l ON e.patient_id = l.patient_id WHERE e.admitted <= l.taken AND l.taken - INTERVAL '14 months' < e.admitted",
    "SELECT COUNT(*) FILTER (WHERE AGE(l.taken, e.admitted) < INTERVAL '7 months'), COUNT(*) FILTER (WHERE NOT AGE(l.taken, e.admitted) >= INTERVAL '0 months') FROM encounters e JOIN labs l ON e.patient_id = l.patient_id",
    "SELECT SUM(l.taken - e.admitted), SUM(CASE WHEN AGE(l.taken, e.admitted) < INTERVAL '7 months' THEN l.taken - e.admitted END) FROM encounters e JOIN labs l ON e.patient_id = l.patient_id WHERE AGE(e.admitted, l.taken) < INTERVAL '7 months'",
    "SELECT SUM(l.taken - e.admitted) FROM encounters e JOIN labs l ON e.patient_id = l.patient_id WHERE AGE(l.taken, e.admitted) >= INTERVAL '0 months' AND NOT AGE(l.taken, e.admitted) >= INTERVAL '4 months'",
    "SELECT SUM(l.taken - e.admitted) FROM encounters e JOIN labs l ON e.patient_id = l.patient_id WHERE NOT (l.taken < e.admitted) AND (l.taken = e.admitted + 3 OR e.admitted + e.length_of_stay::int >= l.taken)",
    "SELECT e.department, SUM(l.taken - e.admitted) FILTER (WHERE l.taken > e.admitted AND l.taken < e.admitted + INTERVAL '1 month') FROM encounters e JOIN labs l ON e.patient_id = l.patient_id GROUP BY e.department",
    "SELECT SUM(CASE WHEN l.taken < e.admitted THEN 0 WHEN l.taken > e.admitted + 30 THEN 31 ELSE l.taken - e.admitted END) FROM encounters e JOIN labs l ON e.patient_id = l.patient_id",
    "SELECT SUM(age - length_of_stay) FROM encounters WHERE age BETWEEN length_of_stay - 5 AND length_of_stay + 20",
    "SELECT STDDEV_POP(CASE WHEN department = 'surgery' THEN length_of_stay END), CORR(age / 7.0, length_of_stay), VAR_POP(length_of_stay / 30.0 / 1.5) FROM encounters WHERE length_of_stay < 40",
    "SELECT AVG(age / ((age / 100.0 + 1) * (age / 100.0 + 1))), AVG(POWER(age / 1000.0, 2)), SUM(age / 10.0) FROM encounters",
    # whole numbers that are written with a point, or rounded, are divided as decimals
    "SELECT AVG(x) FROM (SELECT patient_id, SUM(CASE WHEN age < 40 THEN 1.0 ELSE 0 END) / COUNT(*) AS x FROM encounters GROUP BY patient_id) AS t",
    "SELECT AVG(COALESCE(length_of_stay, 0.0) / 100), AVG(GREATEST(age, 50.0) / 100), AVG(NULLIF(age, 40.0) / 100), AVG(age / -2.0) FROM encounters",
    "SELECT AVG(CASE WHEN age > 40 THEN 1.0 ELSE 0 END / 2), SUM(CASE WHEN age > 40 THEN 7 ELSE -1.0 END / 2) FROM encounters",
    "SELECT AVG(CEIL(age / 60.0) / 2), AVG(-ROUND(age / 7.0) / 4), SUM(length_of_stay / FLOOR(age / 10.0 + 1)) FROM encounters",
    "SELECT COUNT(*) FROM (SELECT patient_id, SUM(CEIL(age / 60.0)) / COUNT(*) AS x FROM encounters GROUP BY patient_id) AS t WHERE x > 1.5",
    "SELECT AVG(age / k.y) FROM encounters e JOIN (VALUES (2020, 7.0), (2021, 8.0)) AS k(x, y) ON e.year = k.x",
    # keys that follow from each other
    "SELECT EXTRACT(MONTH FROM admitted) AS m, MONTHNAME(admitted) AS name, COUNT(*) FROM encounters GROUP BY 1, 2",
    "SELECT sex, CASE WHEN sex = 'F' THEN 'women' WHEN sex = 'M' THEN 'men' ELSE 'unknown' END AS people, COUNT(*) FROM patients GROUP BY 1, 2",
    "SELECT department, COUNT(*) * CASE WHEN department IN ('surgery', 'oncology') THEN 0.5 ELSE 2 END AS weighted FROM encounters GROUP BY department",
    "SELECT DATE_TRUNC('month', admitted)::date AS m, EXTRACT(YEAR FROM admitted) AS y, CASE WHEN EXTRACT(YEAR FROM admitted) < 2022 THEN 'early' ELSE 'late' END AS era, COUNT(*) FROM encounters GROUP BY 1, 2, 3",
    # pairs, sets of texts
    "SELECT a.code AS one, b.code AS other, COUNT(DISTINCT a.patient_id) AS n FROM diagnoses a JOIN diagnoses b ON a.patient_id = b.patient_id AND a.code < b.code WHERE a.code IN ('E11.9', 'I10', 'J44.1') AND b.code IN ('E11.9', 'I10', 'N18.3') GROUP BY 1, 2",
    "SELECT drugs, COUNT(*) AS n FROM (SELECT patient_id, STRING_AGG(DISTINCT drug, '+' ORDER BY drug) AS drugs FROM prescriptions WHERE drug IN ('metformin', 'insulin', 'ramipril') GROUP BY patient_id) AS s GROUP BY drugs",
    "SELECT LPAD(EXTRACT(MONTH FROM admitted)::text, 2, '0') AS m, COUNT(*) FROM encounters GROUP BY 1",
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    with both(tmp_path_factory.mktemp("plain")) as connection:
        yield connection


@pytest.mark.parametrize("sql", TEXTS)
def test_a_text_finds_what_plain_sql_finds(rows, sql):
    _check_found(rows, sql, sql)


def _check_found(rows, asked, sql):
    """Check that what is asked finds what a text finds in plain SQL."""
    compiled, mine = ours(rows, asked)
    theirs = dict(as_found(row, compiled.columns) for row in plain(rows, sql))
    found = dict(as_found(row, compiled.columns) for row in mine)
    assert len(found) == len(mine)
    assert theirs
    for keys, numbers in theirs.items():
        assert _close(found[keys], numbers), keys
    for keys in found.keys() - theirs.keys():  # cells without rows
        assert set(found[keys]) <= {None, Decimal(0)}, keys


@pytest.mark.parametrize(("sql", "offered"), ADDED)
def test_a_text_with_the_unit_key_finds_what_was_typed(rows, sql, offered):
    _check_found(rows, offered, sql)


def _close(mine, theirs):
    return all(
        one == other or abs(one - other) <= Decimal("0.002")
        for one, other in zip(mine, theirs, strict=True)
    )


@pytest.mark.parametrize("sql", TEXTS)
def test_a_patient_who_leaves_moves_no_vector_further_than_its_sensitivity(rows, sql):
    compiled, _ = ours(rows, sql)
    whole = exact_vectors(rows, compiled.rendered)
    tables = sorted(compiled.rendered.tables)
    units = [u for (u,) in rows.execute("SELECT unit_key FROM patients").fetchall()]
    for unit in random.Random(5).sample(units, 3):
        rows.execute("BEGIN")
        for table in tables:
            rows.execute(f'DELETE FROM "{table}" WHERE unit_key = ?', [unit])
        left = exact_vectors(rows, compiled.rendered)
        rows.execute("ROLLBACK")
        for one, other, measure in zip(whole, left, compiled.measures, strict=True):
            moved = [abs(a - b) for a, b in zip(one, other, strict=True)]
            assert sum(moved) <= measure.sensitivity.l1
            assert sum(m * m for m in moved) <= measure.sensitivity.l2_squared
            assert max(moved) <= measure.sensitivity.linf
