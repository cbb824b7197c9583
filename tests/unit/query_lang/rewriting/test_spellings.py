"""Idioms of other dialects: the same question as the language's own words."""

# ruff: noqa: E501, ISC004 - a text is one string, to be read

import sys

import pytest
import sqlglot.optimizer.annotate_types  # noqa: F401 - its module has a function's name

from privacy.errors import QueryError
from query_lang.plans.costs import UNLIMITED
from query_lang.reading.parse import parse_query
from tests.golden.constructs import IDIOMS
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

annotate_types = sys.modules["sqlglot.optimizer.annotate_types"]
E = "SELECT COUNT(*) AS n FROM encounters WHERE "
BEFORE = "PARTITION BY patient_id ORDER BY admitted"
GAPS = "SELECT COUNT(*) AS n FROM (SELECT admitted, LAG(admitted) OVER {} AS last FROM encounters{}) AS e WHERE admitted > last"
STAYS = "SELECT department, RANK() OVER {} AS place, COUNT(*) AS n FROM encounters GROUP BY department {}"
BUSY = "SELECT department, COUNT(*) AS n FROM encounters GROUP BY department"
FIRSTS = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id, {} FROM {}) AS e"
OLD = "SELECT {} AS a, COUNT(*) AS n FROM encounters"
FIRST = f"FIRST_VALUE(department) OVER ({BEFORE}) AS w"
FIRST_DRUGS = "SELECT drug, COUNT(*) AS n FROM (SELECT patient_id, {} AS drug FROM prescriptions GROUP BY patient_id) AS p GROUP BY drug"
MAINLY = "SELECT department, COUNT(*) AS n FROM (SELECT patient_id, department, {} AS k FROM {}) AS r WHERE k = 1 GROUP BY department"
PLACED = "SELECT COUNT(*) AS n FROM (SELECT patient_id, {}, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY {}) AS k FROM encounters GROUP BY patient_id, {}) AS r WHERE k = 1"
MOST = "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY {} DESC, department)"
SAME = (  # as written, and in the language's own words
    (  # in a window a name is a column, not an alias
        PLACED.format("year AS department", "department", "year, department"),
        PLACED.format("year, department", "department", "year, department"),
    ),
    *(
        (
            PLACED.format(shown, order, keys),
            PLACED.format(own, "department, COUNT(*)", "department"),
        )
        for shown, order, keys, own in (
            ("department AS d", "encounters.department, COUNT(*)", "2", "department"),
            (
                "COUNT(*) AS row_number, department",
                "department, COUNT(*)",
                "3",
                "department",
            ),
            (
                "COUNT(*), department",
                "department, COUNT(*)",
                "department",
                "department",
            ),
            (
                "SUM(age) AS sum",
                "department, COUNT(*)",
                "encounters.department",
                "SUM(age) AS s",
            ),
            (
                "1 AS one, LAG(COUNT(*), 1) OVER (PARTITION BY patient_id ORDER BY department) AS b",
                "department, COUNT(*)",
                "department",
                "1 AS e, LAG(COUNT(*)) OVER (PARTITION BY patient_id ORDER BY department) AS b",
            ),
        )
    ),
    (
        MAINLY.format(
            MOST.format("COUNT(*)"), "encounters GROUP BY patient_id, department"
        ),
        MAINLY.format(
            MOST.format("c"),
            "(SELECT patient_id, department, COUNT(*) AS c FROM encounters GROUP BY patient_id, department) AS g",
        ),
    ),
    (
        MAINLY.format(
            MOST.format("SUM(age)").replace("patient_id", "e.patient_id"),
            "encounters AS e GROUP BY e.patient_id, 2",
        ),
        MAINLY.format(
            MOST.format("c"),
            "(SELECT patient_id, department, SUM(age) AS c FROM encounters GROUP BY patient_id, department) AS g",
        ),
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT patient_id, year, COUNT(*) AS c, LAG(COUNT(*)) OVER (PARTITION BY patient_id ORDER BY year) AS last FROM encounters GROUP BY 1, 2) AS y WHERE c > last",
        "SELECT COUNT(*) AS n FROM (SELECT year, c, LAG(c) OVER (PARTITION BY patient_id ORDER BY year) AS last FROM (SELECT patient_id, year, COUNT(*) AS c FROM encounters GROUP BY patient_id, year) AS g) AS y WHERE c > last",
    ),
    (
        E + "department = ANY (ARRAY['surgery', 'oncology'])",
        E + "department IN ('surgery', 'oncology')",
    ),
    (E + "department = SOME ('surgery')", E + "department IN ('surgery')"),
    (E + "age <> ALL (ARRAY[1, 2])", E + "age NOT IN (1, 2)"),
    (
        E + "department = ANY (ARRAY ['surgery', 'oncology'] :: text[])",
        E + "department IN ('surgery', 'oncology')",
    ),
    (E + "age = ANY (ARRAY[1, -2]::int[])", E + "age IN (1, -2)"),
    (E + "age = ANY (ARRAY['1', 2.5]::int[])", E + "age IN (1, 3)"),
    (E + "age = ANY (ARRAY[1, -2.5]::numeric[])", E + "age IN (1, -2.5)"),
    (
        E + "admitted = ANY (ARRAY['2024-01-01', '2024-02-01 08:00:00']::date[])",
        E + "admitted IN ('2024-01-01', '2024-02-01')",
    ),
    (
        E + "department = ANY (ARRAY/* some */[ 'surgery' ] :: character varying [ ])",
        E + "department IN ('surgery')",
    ),
    (
        E + "department = ANY (ARRAY  ['surgery', 'oncology']::text[])",
        E + "department IN ('surgery', 'oncology')",
    ),
    (
        E + "department IN UNNEST  (\n['surgery', 'oncology'])",
        E + "department IN ('surgery', 'oncology')",
    ),
    (
        E + "discharged_to LIKE ANY (ARRAY['h%', 'd%']::text[])",
        E + "discharged_to LIKE 'h%' OR discharged_to LIKE 'd%'",
    ),
    (
        E + "department NOT IN UNNEST(['surgery', 'oncology'])",
        E + "department NOT IN ('surgery', 'oncology')",
    ),
    (
        E + "discharged_to LIKE ANY (array['h%', 'd%'])",
        E + "discharged_to LIKE 'h%' OR discharged_to LIKE 'd%'",
    ),
    (
        FIRST_DRUGS.format("ARRAY_AGG(drug ORDER BY started LIMIT 1)[OFFSET(0)]"),
        FIRST_DRUGS.format("FIRST(drug ORDER BY started)"),
    ),
    (
        FIRST_DRUGS.format("ARRAY_AGG(drug ORDER BY started)[SAFE_ORDINAL(1)]"),
        FIRST_DRUGS.format("FIRST(drug ORDER BY started)"),
    ),
    (
        FIRST_DRUGS.format("(ARRAY_AGG(drug ORDER BY started DESC))[1]"),
        FIRST_DRUGS.format("FIRST(drug ORDER BY started DESC)"),
    ),
    (
        "SELECT MEAN(age) AS a, (SELECT COUNT(*) FROM encounters) AS n FROM encounters WHERE year > 2023",
        OLD.format("AVG(age) FILTER (WHERE year > 2023)"),
    ),
    (
        "SELECT COUNT_BIG(*) AS a, (SELECT COUNT(*) FROM encounters) AS n FROM encounters WHERE year > 2023",
        OLD.format("COUNT(*) FILTER (WHERE year > 2023)"),
    ),
    (
        "SELECT COUNTIF(age > 60) AS a, (SELECT COUNT_BIG(1) FROM encounters) AS n FROM encounters WHERE year > 2023",
        OLD.format("COUNTIF(age > 60) FILTER (WHERE year > 2023)"),
    ),
    (
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) AS a, (SELECT COUNT(*) FROM encounters) AS n FROM encounters WHERE year > 2023",
        OLD.format("QUANTILE(age, 0.5) FILTER (WHERE year > 2023)"),
    ),
    (
        "SELECT SUMIF(age, age > 60) AS a, (SELECT COUNT(*) FROM encounters AS e WHERE e.year > 2023) AS n FROM encounters WHERE encounters.year > 2023",
        "SELECT SUM(age) FILTER (WHERE age > 60) AS a, COUNT(*) AS n FROM encounters WHERE year > 2023",
    ),
    (GAPS.format("w", f" WINDOW w AS ({BEFORE})"), GAPS.format(f"({BEFORE})", "")),
    (
        GAPS.format("(w ORDER BY admitted)", " WINDOW w AS (PARTITION BY patient_id)"),
        GAPS.format(f"({BEFORE})", ""),
    ),
    (
        GAPS.format(
            "W", " WINDOW v AS (PARTITION BY patient_id), w AS (v ORDER BY admitted)"
        ),
        GAPS.format(f"({BEFORE})", ""),
    ),
    (
        STAYS.format("w", "WINDOW w AS (ORDER BY COUNT(*) DESC)"),
        STAYS.format("(ORDER BY COUNT(*) DESC)", ""),
    ),
    (
        BUSY + " QUALIFY RANK() OVER w < 3 WINDOW w AS (ORDER BY COUNT(*))",
        BUSY + " QUALIFY RANK() OVER (ORDER BY COUNT(*)) < 3",
    ),
    (
        BUSY + " WINDOW w AS (ORDER BY COUNT(*)) QUALIFY RANK() OVER w < 3",
        BUSY + " QUALIFY RANK() OVER (ORDER BY COUNT(*)) < 3",
    ),
    (
        FIRSTS.format(FIRST, "encounters"),
        FIRSTS.format("w", f"(SELECT patient_id, {FIRST} FROM encounters) AS inside"),
    ),
    (
        "SELECT DISTINCT department, COUNT(*) OVER (PARTITION BY department) AS n FROM encounters",
        BUSY,
    ),
    (
        "SELECT DISTINCT department, COUNT(*) OVER (PARTITION BY encounters.department) AS n FROM encounters ORDER BY n",
        BUSY + " ORDER BY n",
    ),
    (
        "SELECT DISTINCT year, sex, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) OVER (PARTITION BY sex, year) AS m FROM encounters JOIN patients USING (patient_id)",
        "SELECT year, sex, QUANTILE(age, 0.5) AS m FROM encounters JOIN patients USING (patient_id) GROUP BY year, sex",
    ),
    (E + "(age > 60) IS TRUE", E + "age > 60"),
    (E + "(age > 60) IS TRUE AND year = 2024", E + "age > 60 AND year = 2024"),
    (E + "(age > 60) IS UNKNOWN", E + "(age > 60) IS NULL"),
    (E + "discharged_to IS NOT DISTINCT FROM 'home'", E + "discharged_to = 'home'"),
    (E + "discharged_to IS DISTINCT FROM NULL", E + "discharged_to IS NOT NULL"),
    (
        E + "discharged_to IS DISTINCT FROM 'home'",
        E + "COALESCE(discharged_to <> 'home', TRUE)",
    ),
    (
        E + "NULLIF(age, year) = 3",
        E + "CASE WHEN age = year THEN NULL ELSE age END = 3",
    ),
    (
        E + "IF(age > 60, year, 1) = 1",
        E + "CASE WHEN age > 60 THEN year ELSE 1 END = 1",
    ),
    (E + "NVL(discharged_to, 'x') = 'x'", E + "COALESCE(discharged_to, 'x') = 'x'"),
    (
        E + "(age, year) IN ((1, 2024), (2, 2025))",
        E + "age = 1 AND year = 2024 OR age = 2 AND year = 2025",
    ),
    (
        E + "patient_id = ANY (SELECT patient_id FROM labs)",
        E + "patient_id IN (SELECT patient_id FROM labs)",
    ),
    (
        E + "patient_id <> ALL (SELECT patient_id FROM labs)",
        E + "patient_id NOT IN (SELECT patient_id FROM labs)",
    ),
    (
        "SELECT COUNT(1) AS n FROM labs WHERE abnormal = TRUE",
        "SELECT COUNT(*) AS n FROM labs WHERE abnormal",
    ),
    (
        "SELECT COUNT(*) AS n FROM labs WHERE abnormal <> TRUE",
        "SELECT COUNT(*) AS n FROM labs WHERE NOT abnormal",
    ),
    (
        "SELECT COUNT(*) FILTER (WHERE age > 60) AS n FROM encounters",
        "SELECT COUNT(CASE WHEN age > 60 THEN 'x' END) AS n FROM encounters",
    ),
    (
        "SELECT COUNT_BIG(*) AS n FROM encounters",
        "SELECT COUNT(*) AS n FROM encounters",
    ),
    (
        "SELECT department, 100.0 * COUNT(*) / (SELECT COUNT(*) FROM encounters) AS n FROM encounters GROUP BY department",
        "SELECT department, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS n FROM encounters GROUP BY department",
    ),
    (
        "SELECT department, SUM(age) / (SELECT SUM(age) FROM encounters WHERE age > 60) AS n FROM encounters e WHERE e.age > 60 GROUP BY department",
        "SELECT department, SUM(age) / SUM(SUM(age)) OVER () AS n FROM encounters e WHERE e.age > 60 GROUP BY department",
    ),
    (
        "SELECT COUNT(DISTINCT e.patient_id) / (SELECT COUNT(DISTINCT patient_id) FROM encounters WHERE age > 60) AS n FROM encounters e WHERE age > 60 AND year = 2024",
        "SELECT COUNT(DISTINCT patient_id) FILTER (WHERE year = 2024) / COUNT(DISTINCT patient_id) AS n FROM encounters WHERE age > 60",
    ),
    (
        "SELECT AVG(age) - (SELECT AVG(x.age) FROM encounters x) AS n FROM encounters WHERE year = 2024 AND age > 60",
        "SELECT AVG(age) FILTER (WHERE year = 2024 AND age > 60) - AVG(age) AS n FROM encounters",
    ),
    (
        E + "DATE '2024-06-30' BETWEEN admitted AND admitted + length_of_stay",
        E
        + "admitted <= DATE '2024-06-30' AND DATE '2024-06-30' <= admitted + length_of_stay",
    ),
    (
        E + "admitted >= DATEADD(day, -30, '2024-12-31')",
        E + "admitted >= DATE '2024-12-01'",
    ),
    (
        E + "admitted >= DATE_SUB('2024-12-31', INTERVAL 30 DAY)",
        E + "admitted >= DATE '2024-12-01'",
    ),
    (
        "SELECT COUNT_BIG(age) AS n FROM dbo.encounters",
        "SELECT COUNT(age) AS n FROM encounters",
    ),
    (
        "SELECT COUNT(*) AS n FROM `hospital.encounters` AS e",
        "SELECT COUNT(*) AS n FROM encounters AS e",
    ),
    (
        "SELECT department, RATIO_TO_REPORT(COUNT(*)) OVER () AS n FROM encounters GROUP BY 1",
        "SELECT department, COUNT(*) / SUM(COUNT(*)) OVER () AS n FROM encounters GROUP BY 1",
    ),
    (
        "SELECT DISTINCT TOP (3) department, COUNT(*) AS n FROM encounters GROUP BY 1",
        "SELECT DISTINCT department, COUNT(*) AS n FROM encounters GROUP BY 1 LIMIT 3",
    ),
    (
        "SELECT TOP 3 department, COUNT(*) AS n FROM encounters GROUP BY 1 ORDER BY 2 DESC",
        "SELECT department, COUNT(*) AS n FROM encounters GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
    ),
    (
        "SELECT COUNT(*) AS n FROM patients p OUTER APPLY (SELECT TOP 1 age FROM encounters e WHERE e.patient_id = p.patient_id ORDER BY admitted) f WHERE f.age > 60",
        "SELECT COUNT(*) AS n FROM patients p LEFT JOIN LATERAL (SELECT age FROM encounters e WHERE e.patient_id = p.patient_id ORDER BY admitted LIMIT 1) f ON TRUE WHERE f.age > 60",
    ),
    (
        "SELECT COUNTIF(age > 60) AS n FROM encounters",
        "SELECT COUNT(CASE WHEN age > 60 THEN 1 END) AS n FROM encounters",
    ),
    (
        "SELECT COUNT(DISTINCT patient_id) FILTER (WHERE age > 60) AS n FROM encounters",
        "SELECT COUNT(DISTINCT CASE WHEN age > 60 THEN patient_id END) AS n FROM encounters",
    ),
    (
        "SELECT COUNT(DISTINCT IF(age > 60, patient_id, NULL)) AS n FROM encounters",
        "SELECT COUNT(DISTINCT CASE WHEN age > 60 THEN patient_id END) AS n FROM encounters",
    ),
    (
        "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age DESC) AS q FROM encounters",
        "SELECT QUANTILE(age, 0.75) AS q FROM encounters",
    ),
    (
        "SELECT approx_quantiles(age, 4) [ OFFSET (3) ] AS q FROM encounters",
        "SELECT QUANTILE(age, 0.75) AS q FROM encounters",
    ),
    (
        "SELECT APPROX_QUANTILES(age, 100)[SAFE_ORDINAL(76)] AS q FROM encounters",
        "SELECT QUANTILE(age, 0.75) AS q FROM encounters",
    ),
    (
        "SELECT SUMIF(age, year = 2024) AS s, AVG_IF(age, year = 2024) AS a FROM encounters",
        "SELECT SUM(age) FILTER (WHERE year = 2024) AS s, AVG(age) FILTER (WHERE year = 2024) AS a FROM encounters",
    ),
    (E + "SAFE_DIVIDE(age, 2) > 30", E + "age * 1.0 / 2 > 30"),
    (E + "POW(age, 2) > 900", E + "POWER(age, 2) > 900"),
    (E + "TRUNCATE(age / 10) = 6", E + "TRUNC(age / 10) = 6"),
    (
        E + "TIMESTAMPADD(MONTH, 3, admitted) > DATE '2024-05-01'",
        E + "DATEADD(month, 3, admitted) > DATE '2024-05-01'",
    ),
    (
        E + "DATEDIFF_BIG(day, DATE '2024-01-01', admitted) > 3",
        E + "DATEDIFF(day, DATE '2024-01-01', admitted) > 3",
    ),
    (
        E + "admitted - '2024-01-01' > 3 AND AGE_YEARS(admitted, '2024-12-31') = 0",
        E
        + "admitted - DATE '2024-01-01' > 3 AND AGE_YEARS(admitted, DATE '2024-12-31') = 0",
    ),
    (
        E + "DATE_DIFF('day', '2024-01-01', admitted) + '2024-01-01' > admitted",
        E
        + "DATE_DIFF('day', DATE '2024-01-01', admitted) + DATE '2024-01-01' > admitted",
    ),
    (
        E + "`department` = N'surgery' AND [Age] > 60",
        E + "department = 'surgery' AND age > 60",
    ),
    (
        E + "department LIKE ANY ('s%', 'e%')",
        E + "department LIKE 's%' OR department LIKE 'e%'",
    ),
    (E + "department ILIKE ALL ('S%')", E + "department ILIKE 'S%'"),
    (
        "# all of them\nSELECT COUNT(*) AS n FROM (SELECT patient_id FROM labs)",
        "SELECT COUNT(*) AS n FROM (SELECT patient_id FROM labs) AS l",
    ),
    (
        'SELECT department AS "Ward (all)", COUNT(*) AS "N" FROM encounters GROUP BY "Ward (all)" HAVING "N" > 5',
        "SELECT department AS ward_all, COUNT(*) AS n FROM encounters GROUP BY ward_all HAVING n > 5",
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id, department, 1 AS flag FROM encounters) AS e",
        "SELECT COUNT(*) AS n FROM (SELECT patient_id, department, 1 AS flag FROM encounters GROUP BY patient_id, department) AS e",
    ),
    (
        "SELECT kind, COUNT(*) AS n FROM (SELECT patient_id, 'a' AS kind FROM labs UNION ALL SELECT patient_id, 'b' FROM encounters) AS u GROUP BY kind",
        "SELECT kind, COUNT(*) AS n FROM (SELECT patient_id, 'a' AS kind FROM labs UNION ALL SELECT patient_id, 'b' AS kind FROM encounters) AS u GROUP BY kind",
    ),
    (
        E + "FORMAT(admitted, 'yyyy-MM') = '2024-01'",
        E + "TO_CHAR(admitted, 'YYYY-MM') = '2024-01'",
    ),
    (E + "EOMONTH(admitted) = '2024-01-31'", E + "LAST_DAY(admitted) = '2024-01-31'"),
    (
        E + "EOMONTH(admitted, 1) = '2024-01-31'",
        E + "LAST_DAY(ADD_MONTHS(admitted, 1)) = '2024-01-31'",
    ),
    (
        E + "EQUAL_NULL(discharged_to, 'home')",
        E + "discharged_to IS NOT DISTINCT FROM 'home'",
    ),
    (E + "ZEROIFNULL(age) > 1", E + "COALESCE(age, 0) > 1"),
    (E + "NULLIFZERO(age) > 1", E + "NULLIF(age, 0) > 1"),
    (E + "SQUARE(age) > 1", E + "POWER(age, 2) > 1"),
    (E + "DAYOFWEEKISO(admitted) = 1", E + "ISODOW(admitted) = 1"),
    (
        E + "TO_VARCHAR(admitted, 'YYYY') = '2024'",
        E + "TO_CHAR(admitted, 'YYYY') = '2024'",
    ),
    (
        E + "DATE_FROM_PARTS(2024, 1, 31) < admitted",
        E + "MAKE_DATE(2024, 1, 31) < admitted",
    ),
    (E + "admitted < SYSDATETIME()", E + "admitted < NOW()"),
    (
        E + "DATE_DIFF(admitted, DATE '2024-01-01', ISOWEEK) = 3",
        E + "DATE_DIFF(admitted, DATE '2024-01-01', WEEK(MONDAY)) = 3",
    ),
    (E + "CONTAINS_SUBSTR(department, 'Sur')", E + "department ILIKE '%sur%'"),
    (
        E + "REGEXP_FULL_MATCH(department, 'sur.*|er')",
        E + "REGEXP_LIKE(department, '^(?:sur.*|er)$')",
    ),
)

D = "SELECT COUNT(*) AS n FROM (SELECT patient_id, department"
BY = "PARTITION BY patient_id ORDER BY admitted DESC"
NUMBERED = f"{D} FROM (SELECT patient_id, department, ROW_NUMBER() OVER ({BY}) AS r FROM encounters) AS x"
P = "SELECT COUNT(*) AS n FROM patients AS p "
BY_YEAR = "SELECT year AS yr, COUNT(*) AS n FROM encounters GROUP BY 1"
LAYERS = (  # a query over an aggregated one, and the one that it is
    (
        f"WITH y AS ({BY_YEAR}) SELECT yr, n, n - LAG(n) OVER (ORDER BY yr) AS more FROM y ORDER BY yr",
        "SELECT year AS yr, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY year) AS more"
        " FROM encounters GROUP BY year ORDER BY yr",
    ),
    (
        f"SELECT * FROM ({BY_YEAR}) AS y WHERE y.n > 10 AND yr <> 2020 ORDER BY n DESC LIMIT 5",
        "SELECT year AS yr, COUNT(*) AS n FROM encounters GROUP BY year"
        " HAVING COUNT(*) > 10 AND year <> 2020 ORDER BY COUNT(*) DESC LIMIT 5",
    ),
    (
        f"WITH y AS ({BY_YEAR} HAVING COUNT(*) > 3), t AS (SELECT yr, n, n / 2 AS half FROM y),"
        " unread AS (SELECT patient_id FROM labs) SELECT half AS h, t.yr FROM t WHERE half > 4",
        "SELECT COUNT(*) / 2 AS h, year AS yr FROM encounters GROUP BY year"
        " HAVING COUNT(*) > 3 AND COUNT(*) / 2 > 4",
    ),
    (
        "SELECT month, n FROM (SELECT DATE_TRUNC('month', admitted) AS month, COUNT(*) AS n"
        " FROM encounters GROUP BY month)",
        "SELECT DATE_TRUNC('month', admitted) AS month, COUNT(*) AS n FROM encounters GROUP BY 1",
    ),
    (
        "SELECT admitted, n FROM (SELECT CAST(admitted AS DATE) AS admitted, COUNT(*) AS n"
        " FROM encounters GROUP BY admitted) AS q",
        "SELECT admitted, COUNT(*) AS n FROM encounters GROUP BY admitted",
    ),
)
QUERIES = (
    (
        f"{D} FROM encounters QUALIFY ROW_NUMBER() OVER ({BY}) = 1) AS q",
        f"{NUMBERED} WHERE r = 1) AS q",
    ),
    (
        f"{D} FROM (SELECT patient_id, department, age FROM encounters) AS e"
        " QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY age) <= 2"
        " AND department = 'surgery') AS q",
        f"{D} FROM (SELECT patient_id, department, ROW_NUMBER() OVER (PARTITION BY"
        " patient_id ORDER BY age) AS r FROM (SELECT patient_id, department, age FROM"
        " encounters) AS e) AS x WHERE r <= 2 AND department = 'surgery') AS q",
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ON (patient_id) patient_id,"
        " department FROM encounters ORDER BY patient_id, admitted DESC) AS q",
        f"{NUMBERED} WHERE r = 1) AS q",
    ),
    (
        P + "WHERE patient_id IN (WITH a AS (SELECT patient_id FROM labs),"
        " b AS (SELECT patient_id FROM a WHERE patient_id IN (SELECT patient_id FROM encounters))"
        " SELECT patient_id FROM b)",
        "WITH a AS (SELECT patient_id FROM labs),"
        " b AS (SELECT patient_id FROM a WHERE patient_id IN (SELECT patient_id FROM encounters)) "
        + P
        + "WHERE patient_id IN (SELECT patient_id FROM b)",
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT patient_id FROM labs WHERE abnormal INTERSECT"
        " SELECT patient_id FROM encounters) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id FROM labs WHERE abnormal"
        " AND patient_id IN (SELECT patient_id FROM encounters)) AS q",
    ),
    (
        P
        + "WHERE patient_id IN (SELECT patient_id FROM labs EXCEPT SELECT patient_id FROM encounters)",
        P + "WHERE patient_id IN (SELECT DISTINCT patient_id FROM labs WHERE patient_id"
        " NOT IN (SELECT patient_id FROM encounters))",
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT patient_id FROM labs UNION DISTINCT SELECT"
        " patient_id FROM encounters) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id FROM (SELECT patient_id"
        " FROM labs UNION ALL SELECT patient_id FROM encounters) AS u) AS q",
    ),
    (
        P + ", encounters AS e WHERE e.patient_id = p.patient_id AND e.age > 60",
        P + "JOIN encounters AS e ON e.patient_id = p.patient_id WHERE e.age > 60",
    ),
    (
        P + "CROSS JOIN encounters AS e WHERE e.patient_id = p.patient_id",
        P + "JOIN encounters AS e USING (patient_id)",
    ),
    (
        "SELECT COUNT(*) AS n FROM labs AS l RIGHT JOIN patients AS p ON l.patient_id ="
        " p.patient_id WHERE l.test IS NULL",
        P + "LEFT JOIN labs AS l ON l.patient_id = p.patient_id WHERE l.test IS NULL",
    ),
    (
        "SELECT COUNT(*) AS n FROM diagnoses AS d JOIN encounters AS e USING (patient_id, encounter_id)",
        "SELECT COUNT(*) AS n FROM diagnoses AS d JOIN encounters AS e ON d.patient_id ="
        " e.patient_id AND d.encounter_id = e.encounter_id",
    ),
    (
        "SELECT COUNT(*) AS n FROM encounters AS e WHERE patient_id NOT IN (SELECT"
        " patient_id FROM labs AS l WHERE l.taken > e.admitted)",
        "SELECT COUNT(*) AS n FROM encounters AS e WHERE NOT EXISTS (SELECT * FROM labs"
        " AS l WHERE l.patient_id = e.patient_id AND l.taken > e.admitted)",
    ),
    (
        "SELECT department, COUNT(*) AS n FROM encounters GROUP BY ALL FETCH NEXT 3 ROW ONLY",
        "SELECT department, COUNT(*) AS n FROM encounters GROUP BY 1 LIMIT 3",
    ),
)


def canonical(sql):
    return compile_query(sql, hospital()).canonical


@pytest.mark.parametrize(("written", "own"), [*SAME, *QUERIES])
def test_an_idiom_is_the_same_question_as_its_own_words(written, own):
    assert canonical(written) == canonical(own)


@pytest.mark.parametrize(("written", "own"), LAYERS)
def test_a_query_over_an_aggregated_one_is_one_query(written, own):
    found, meant = (compile_query(sql, hospital()) for sql in (written, own))
    assert found.canonical == meant.canonical
    assert found.presentation == meant.presentation
    assert found.columns == meant.columns


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        (f"SELECT STDDEV(n) AS a FROM ({BY_YEAR}) AS y", "group_by_unit"),
        (f"SELECT yr FROM ({BY_YEAR} LIMIT 3) AS y", "limit"),
        (f"SELECT yr, n FROM ({BY_YEAR}) AS y WHERE yr IN (SELECT 2 FROM labs)", ""),
        (f"SELECT yr, m FROM ({BY_YEAR}) AS y", "group_by_unit"),
        (f"SELECT n FROM ({BY_YEAR}) AS y", "key_not_selected"),
        (f"SELECT DISTINCT yr, n FROM ({BY_YEAR}) AS y", "distinct"),
        (f"SELECT *, n FROM ({BY_YEAR}) AS y", "duplicate_name"),
        ("SELECT * FROM (SELECT patient_id FROM labs) AS l", "star"),
        (
            "SELECT p, n FROM (SELECT patient_id AS p, COUNT(*) AS n FROM labs GROUP BY"
            " patient_id) AS l",
            "unit_key_opaque",
        ),
    ],
)
def test_no_other_query_is_read_so(sql, rule):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, hospital())
    assert refused.value.rule == rule or not rule


RUNNING = "SELECT year AS yr, SUM(COUNT(*)) OVER (ORDER BY year) AS r FROM encounters GROUP BY year"


@pytest.mark.parametrize(
    ("written", "own"),
    [
        (
            "SELECT n AS year, y FROM (SELECT year AS y, COUNT(*) AS n FROM encounters"
            " GROUP BY year) AS q ORDER BY year LIMIT 2",
            "SELECT COUNT(*) AS year, year AS y FROM encounters GROUP BY year"
            " ORDER BY COUNT(*) LIMIT 2",
        ),
        (
            "SELECT y, s AS n FROM (SELECT year AS y, COUNT(*) AS n, SUM(age) AS s FROM"
            " encounters GROUP BY y HAVING n > 50) AS q",
            "SELECT year AS y, SUM(age) AS n FROM encounters GROUP BY year"
            " HAVING COUNT(*) > 50",
        ),
        (f"SELECT yr AS a, r FROM ({RUNNING}) AS q", RUNNING.replace("AS yr", "AS a")),
    ],
)
def test_names_mean_what_they_did_where_they_stood(written, own):
    found, meant = (compile_query(sql, hospital()) for sql in (written, own))
    assert found.columns == meant.columns
    assert found.presentation == meant.presentation


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        (
            f"SELECT yr, SUM(r) OVER () AS s FROM ({RUNNING}) AS q WHERE yr >= 2022",
            "group_by_unit",
        ),
        (
            "SELECT n FROM (SELECT year AS department, COUNT(*) AS n FROM encounters"
            " GROUP BY year, department) AS q",
            "ambiguous_name",
        ),
        (f"SELECT yr, n FROM ({BY_YEAR}) AS y ORDER BY COUNT(*)", "group_by_unit"),
        (f"SELECT yr, n FROM ({BY_YEAR}, 3) AS y", "group_by_form"),
        (
            "SELECT a FROM (SELECT year, COUNT(*) AS a, SUM(age) AS a FROM encounters"
            " GROUP BY year) AS y",
            "group_by_unit",
        ),
        (
            'SELECT COUNT(*) AS "Age" FROM encounters HAVING "Age" > 30',
            "ambiguous_name",
        ),
        (E + "REGEXP_FULL_MATCH(department, 'a)|(?:b')", "pattern"),
        (
            "SELECT m FROM (SELECT department, COUNT(*) AS age, SUM(age) AS m FROM"
            " encounters GROUP BY department HAVING age > 5) AS q",
            "ambiguous_name",
        ),
        (
            "SELECT y AS yr FROM (SELECT year AS y, COUNT(*) AS n FROM encounters"
            " GROUP BY yr) AS q",
            "unknown_column",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT patient_id, SUM(age) OVER (PARTITION BY"
            " patient_id) AS age FROM encounters QUALIFY age > 5 AND ROW_NUMBER() OVER"
            " (PARTITION BY patient_id ORDER BY admitted) = 1) AS q",
            "ambiguous_name",
        ),
        (
            "SELECT y, n AS big FROM (SELECT year AS y, COUNT(*) AS n FROM encounters"
            " GROUP BY year HAVING big > 3) AS q",
            "unknown_column",
        ),
    ],
)
def test_what_would_mean_another_thing_written_out_is_refused(sql, rule):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, hospital())
    assert refused.value.rule == rule


def test_no_bracket_types_all_that_stands_before_it(monkeypatch):
    """Which takes seconds, and grows with the square of a text."""

    def typed(*_given, **_more):
        raise AssertionError

    monkeypatch.setattr(annotate_types, "annotate_types", typed)
    parse_query("SELECT APPROX_QUANTILES(age + age, 4)[OFFSET(1)] FROM encounters")


def test_steps_that_double_what_they_read_are_refused_at_once():
    steps = [f"a AS ({BY_YEAR})"]
    for step in range(30):
        before = "a" if not step else f"b{step - 1}"
        steps.append(f"b{step} AS (SELECT yr, n + n AS n FROM {before})")
    with pytest.raises(QueryError) as refused:
        parse_query(f"WITH {', '.join(steps)} SELECT yr, n FROM b29")
    assert refused.value.rule == "too_complex"


def _nested(form, depth, within="age"):
    for _ in range(depth):
        within = form.replace("@", within)
    return within


@pytest.mark.parametrize(
    "condition",
    [
        _nested("POWER(@, 4)", 20) + " > 1",
        _nested("NULLIF(@, 1)", 28) + " > 1",
        _nested("DATE_TRUNC(@, WEEK)", 28, "admitted") + " > DATE '2024-01-01'",
        _nested("((age > 1) IS DISTINCT FROM @)", 15, "(age > 2)"),
        " OR ".join([_nested("POWER(@, 4)", 5) + " > 1"] * 20),
    ],
)
def test_forms_that_repeat_their_operands_are_refused_at_once(condition):
    """A hundred bytes can stand for a tree that would be walked for hours."""
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT COUNT(*) FROM encounters WHERE {condition}", hospital())
    assert refused.value.rule == "too_complex"


def test_a_query_measures_no_more_numbers_than_it_may():
    wide = ", ".join(f"CORR(age, age + {number})" for number in range(60))
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT {wide} FROM encounters", hospital())
    assert refused.value.rule == "too_complex"


def test_queries_are_read_through_so_many_others():
    """Each layer looks at all that are written out below it."""
    layers = "".join(
        f", b{n + 1} AS (SELECT yr, n + LAG(n) OVER (ORDER BY yr) AS n FROM b{n})"
        for n in range(60)
    )
    with pytest.raises(QueryError) as refused:
        parse_query(f"WITH b0 AS ({BY_YEAR}){layers} SELECT yr, n FROM b60")
    assert refused.value.rule == "relation_count"


@pytest.mark.parametrize("word", ["INTERSECT", "EXCEPT", "UNION"])
def test_long_chains_of_sets_are_refused_not_lost(word):
    """Nested in each other, they are too deep for one step or another."""
    for length in (40, 120, 200, 300):
        chain = f" {word} ".join(["SELECT patient_id FROM labs"] * length)
        with pytest.raises(QueryError) as refused:
            compile_query(f"SELECT COUNT(*) FROM ({chain}) AS s", hospital())
        assert refused.value.rule == "relation_count"


def test_where_over_windows_chooses_after_them():
    found = compile_query(
        f"SELECT yr, r FROM ({RUNNING}) AS q WHERE yr >= 2022", hospital()
    )
    assert found.presentation.having is None
    assert found.presentation.kept is not None


def test_order_by_takes_what_is_selected_before_a_column_below():
    share = (
        "SELECT yr, {n} AS n FROM (SELECT year AS yr, COUNT(*) AS n FROM encounters"
        " GROUP BY year) AS y ORDER BY {by}"
    )
    named = compile_query(share.format(n="0 - n", by="n"), hospital())
    placed = compile_query(share.format(n="0 - n", by="2"), hospital())
    assert named.presentation == placed.presentation


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        (STAYS.format("w", ""), "named_window"),
        (
            "SELECT DISTINCT year, COUNT(*) OVER (PARTITION BY year) AS n FROM encounters QUALIFY ROW_NUMBER() OVER (ORDER BY year) <= 2",
            "distinct",
        ),
        (E + "department <> ANY (ARRAY['surgery'])", "any_all"),
        (E + "department = ARRAY['surgery']", "symbol"),
        (E + "department = ANY (ARRAY[ARRAY['surgery']])", "symbol"),
        (E + "department = ANY (ARRAY['surgery')]", "symbol"),
        (E + "age = ANY (ARRAY[age]::int[])", "in_list_item"),
        (E + "age = ANY (ARRAY[1, 2]::int[][])", "symbol"),
        (E + "age = ANY (ARRAY[1, 2]::int[2])", "symbol"),
        (E + "age = ANY (ARRAY[1, 2]::money[])", "cast"),
        (E + "age = ANY (ARRAY[1, 2]::text[])", "literal_type"),
        (E + "age = ANY (ARRAY['1']::text[])", "literal_type"),
        (E + "admitted = ANY (ARRAY['2024-01-01']::text[])", "literal_type"),
        (E + "admitted <> ALL (ARRAY['2024-01-01'] :: varchar [])", "literal_type"),
        (E + "department = ANY (ARRAY['2024-01-01']::date[])", "literal_type"),
        (E + "DATE '2024-01-01' = ANY (ARRAY['2024-01-01']::text[])", "literal_type"),
        (E + "age IN UNNEST([1], 2)", "symbol"),
        (E + "age IN UNNEST([])", "empty_list"),
        (E + "CAST(age AS text[])", "symbol"),
        (E + "department = ANY ('{surgery,oncology}')", "any_all"),
        (E + "department = ANY ()", "empty_list"),
        (E + "department <> ALL (ARRAY[])", "empty_list"),
        (E + "discharged_to LIKE ANY ()", "empty_list"),
        (E + "(admitted, admitted, admitted) OVERLAPS (admitted, admitted)", "tuple"),
        (
            E
            + " OR ".join(
                ["(admitted, admitted) OVERLAPS (admitted, DATE '2024-01-01')"] * 13
            ),
            "too_complex",
        ),
        (
            FIRST_DRUGS.format("ARRAY_AGG(drug ORDER BY started)[OFFSET(1)]"),
            "aggregate",
        ),
        (FIRST_DRUGS.format("(ARRAY_AGG(drug))[1]"), "aggregate"),
        (STAYS.format("w", "WINDOW v AS (ORDER BY COUNT(*))"), "named_window"),
        (
            STAYS.format("w", "WINDOW w AS (v), v AS (ORDER BY COUNT(*))"),
            "named_window",
        ),
        (STAYS.format("w", "WINDOW w AS (), w AS (ORDER BY COUNT(*))"), "named_window"),
        (
            STAYS.format("(w ORDER BY department)", "WINDOW w AS (ORDER BY COUNT(*))"),
            "named_window",
        ),
        (
            STAYS.format(
                "(w PARTITION BY department)", "WINDOW w AS (ORDER BY COUNT(*))"
            ),
            "named_window",
        ),
        (
            "SELECT (SELECT COUNT(*) FROM encounters) AS n FROM encounters",
            "scalar_subquery",
        ),
        (
            "SELECT 1 / (SELECT COUNT(*) FROM encounters) AS n FROM encounters WHERE age > 1",
            "scalar_subquery",
        ),
        (
            "SELECT COUNT(*) AS a, (SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT 1 FROM labs AS l WHERE l.patient_id = encounters.patient_id AND value > 1)) AS n"
            " FROM encounters WHERE EXISTS (SELECT 1 FROM labs AS l WHERE l.patient_id = encounters.patient_id AND encounters.value > 1)",
            "scalar_subquery",
        ),
        ("SELECT DISTINCT department FROM encounters", "distinct"),
        (
            "SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY age) AS k FROM encounters GROUP BY patient_id, year) AS r WHERE k = 1",
            "not_grouped",
        ),
        (
            PLACED.format("year AS y", "y", "year"),
            "unknown_column",  # an alias is none in the list
        ),
        (PLACED.format("3 AS three, department", "COUNT(*)", "2"), "group_by_form"),
        (PLACED.format("department", "COUNT(*)", "4"), "group_by_form"),
        (PLACED.format("department", "COUNT(*)", "3"), "window_place"),
        (PLACED.format("COUNT(*) > 1", "COUNT(*)", "year"), "name_needed"),
        (FIRST_DRUGS.format("ARRAY_AGG(drug ORDER BY started)[1]"), "aggregate"),
        (E + "department = ANY (' {surgery,oncology}')", "any_all"),
        (E + "department <> ALL ('[0:1]={surgery,oncology}')", "any_all"),
        (E + "department LIKE ANY ('{s%,o%}')", "like_pattern"),
        (
            "SELECT DISTINCT department, COUNT(*) OVER () AS n FROM encounters",
            "distinct",
        ),
        (
            "SELECT DISTINCT COUNT(*) OVER (PARTITION BY department) AS n FROM encounters",
            "distinct",
        ),
        (
            "SELECT DISTINCT year, ROW_NUMBER() OVER (PARTITION BY year) AS n FROM encounters",
            "distinct",
        ),
        (
            "SELECT DISTINCT year, SUM(age) OVER (PARTITION BY year ORDER BY age) AS n FROM encounters",
            "distinct",
        ),
        (
            "SELECT year, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) OVER (PARTITION BY year) AS m FROM encounters",
            "within_group",
        ),
    ],
)
def test_windows_beside_distinct_or_by_names_that_say_nothing_are_refused(sql, rule):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, hospital())
    assert refused.value.rule == rule


def test_a_window_that_is_named_is_not_seen_within():
    with pytest.raises(QueryError) as refused:
        compile_query(
            "SELECT COUNT(*) OVER w AS n FROM (SELECT patient_id, ROW_NUMBER() OVER w"
            " AS k FROM encounters) AS e WINDOW w AS (PARTITION BY patient_id)",
            hospital(),
        )
    assert refused.value.rule == "named_window"


def test_a_window_s_name_means_that_of_its_own_select():
    inside = (
        "(SELECT x.patient_id FROM (SELECT patient_id, age, ROW_NUMBER() OVER {} AS n"
        " FROM encounters{}) AS x WHERE x.n = 1 AND x.age > 60)"
    )
    sql = (
        "SELECT COUNT(*) FILTER (WHERE e.patient_id IN {}) AS n FROM encounters AS e{}"
    )
    first = "(PARTITION BY patient_id ORDER BY admitted)"
    last = "(PARTITION BY patient_id ORDER BY admitted DESC)"
    plain = compile_query(sql.format(inside.format(first, ""), ""), hospital())
    named = inside.format("w", f" WINDOW w AS {first}")
    for outer in ("w", "v"):
        found = compile_query(
            sql.format(named, f" WINDOW {outer} AS {last}"), hospital()
        )
        assert found.canonical == plain.canonical


@pytest.mark.parametrize("named", ["y", "b"])
def test_a_step_sees_those_before_it_alone(named):
    with pytest.raises(QueryError) as refused:
        compile_query(
            f"WITH y AS (SELECT yr, n FROM {named}), b AS ({BY_YEAR}) SELECT n FROM y",
            hospital(),
        )
    assert refused.value.rule == "unknown_table"


@pytest.mark.parametrize("sql", IDIOMS)
def test_no_idiom_is_left_by_parsing(sql):
    assert "query_lang.syntax.idioms" not in {
        type(part).__module__ for part in everything(parse_query(sql))
    }


def everything(value):
    if isinstance(value, tuple):
        for item in value:
            yield from everything(item)
    elif hasattr(value, "__dataclass_fields__"):
        yield value
        for name in value.__dataclass_fields__:
            yield from everything(getattr(value, name))


def test_a_table_of_an_inner_with_is_seen_by_nobody_else():
    sql = (
        "SELECT COUNT(*) FROM (WITH seen AS (SELECT patient_id FROM labs) SELECT"
        " patient_id FROM seen) AS q JOIN seen USING (patient_id)"
    )
    with pytest.raises(QueryError) as refused:
        compile_query(sql, hospital())
    assert refused.value.rule == "unknown_table"


def test_intersect_binds_tighter_than_union():
    tight = P + (
        "WHERE patient_id IN (SELECT patient_id FROM labs UNION (SELECT patient_id FROM"
        " encounters INTERSECT SELECT patient_id FROM diagnoses))"
    )
    loose = tight.replace("(SELECT patient_id FROM enc", "SELECT patient_id FROM enc")
    assert canonical(loose[:-1]) == canonical(tight)


def test_patients_with_some_row_cost_what_patients_cost():
    sql = (
        "SELECT department, COUNT(DISTINCT patient_id) AS p,"
        " COUNT(DISTINCT CASE WHEN age > 60 THEN patient_id END) AS old"
        " FROM encounters GROUP BY department"
    )
    plain, kept = compile_query(sql, hospital()).measures
    assert plain.sensitivity == kept.sensitivity


def test_operands_repeated_within_operands_are_refused_not_written_out():
    nested = "NULLIF(" * 25 + "age" + ", 1)" * 25
    with pytest.raises(QueryError) as refused:
        parse_query(E + f"{nested} = 2")
    assert refused.value.rule == "too_complex"
    distinct = "age"
    for _ in range(12):
        distinct = f"IF({distinct} IS DISTINCT FROM year, 1, 2)"
    with pytest.raises(QueryError) as refused:
        parse_query(E + f"{distinct} = 2")
    assert refused.value.rule == "too_complex"


def test_an_operand_that_is_written_twice_is_paid_twice():
    whole = compile_query(E + "age IS DISTINCT FROM year", hospital(), limits=UNLIMITED)
    once = compile_query(E + "age <> year", hospital(), limits=UNLIMITED)
    assert whole.cost.steps > once.cost.steps
