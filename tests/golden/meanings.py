"""Texts that binding refuses: at least one for each of its rules.

Read by tests, and meant to be read by people: (rule, sql).
Most are about the demo hospital, some about the clinic of examples/.
"""

S = "SELECT COUNT(*) FROM encounters"
W = f"{S} WHERE "
D = "SELECT COUNT(*) FROM diagnoses WHERE "
L = "LEFT JOIN labs AS l ON l.patient_id = e.patient_id"

REFUSED_BY_MEANING: tuple[tuple[str, str], ...] = (
    (
        "age_band",
        "SELECT age_band(year - 2025, 5) AS b, COUNT(*) FROM encounters GROUP BY b",
    ),
    ("age_years", W + "age_years(age, admitted) > 18"),
    ("aggregate", "SELECT BOOL_OR(age > 60) FROM encounters"),
    ("aggregate_argument", "SELECT SUM(department) FROM encounters"),
    ("aggregate_needed", "SELECT year FROM encounters GROUP BY year"),
    ("aggregate_place", W + "COUNT(*) > 3"),
    (
        "ambiguous_name",
        "SELECT COUNT(*) FROM encounters AS e JOIN diagnoses AS d ON d.patient_id = e.patient_id WHERE encounter_id = 1",
    ),
    ("arithmetic", W + "department + 1 = 2"),
    (
        "average_opaque",
        "SELECT AVG(a) FROM (SELECT patient_id, AVG(age) AS a FROM encounters GROUP BY patient_id) AS e",
    ),
    ("boolean_needed", W + "age"),
    ("column_types", W + "age = department"),
    (
        "common_table_name",
        "WITH labs AS (SELECT patient_id FROM encounters) SELECT COUNT(*) FROM labs",
    ),
    ("condition", W + "NULL"),
    ("count_arguments", "SELECT COUNT(DISTINCT 1) FROM encounters"),
    (
        "exists_count",
        W
        + " OR ".join(
            f"EXISTS (SELECT * FROM labs AS l WHERE l.patient_id = encounters.patient_id AND l.value = {n})"
            for n in range(11)
        ),
    ),
    (
        "relation_count",
        S + "".join(f" JOIN patients AS p{n} USING (patient_id)" for n in range(32)),
    ),
    ("width_bucket", W + "WIDTH_BUCKET(age, 100, 0, 10) = 3"),
    (
        "window_frame",
        "SELECT COUNT(*) FROM (SELECT patient_id, SUM(age) OVER (PARTITION BY patient_id ORDER BY admitted ROWS BETWEEN 2000000 PRECEDING AND CURRENT ROW) AS s FROM encounters) AS d",
    ),
    ("cast", W + "admitted::int > 19000"),
    ("date_diff", W + "DATE_DIFF('century', admitted, CURRENT_DATE) > 3"),
    (
        "date_format",
        "SELECT TO_CHAR(admitted, 'HH24') AS m, COUNT(*) FROM encounters GROUP BY m",
    ),
    ("date_unit", W + "DATE_TRUNC('decade', admitted) = DATE '2020-01-01'"),
    ("interval", W + "CURRENT_DATE - admitted > INTERVAL '3 months'"),
    ("distinct", "SELECT DISTINCT year FROM encounters"),
    (
        "distinct_below",
        "SELECT COUNT(*) FROM (SELECT DISTINCT year FROM encounters) AS e",
    ),
    ("decimal_places", W + "age * 0.0000000001 * 0.0000000001 = 6"),
    ("division", W + "age / 0 = 6"),
    (
        "duplicate_name",
        "SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS n FROM encounters",
    ),
    (
        "exists_form",
        W
        + "EXISTS (SELECT COUNT(*) FROM labs AS l WHERE l.patient_id = encounters.patient_id)",
    ),
    ("extract_operand", W + "EXTRACT(HOUR FROM admitted) = 8"),
    ("extreme", W + "LEAST(department, 'surgery') = 'surgery'"),
    ("group_by_form", "SELECT COUNT(*) FROM encounters GROUP BY 1"),
    (
        "group_by_unit",
        "SELECT COUNT(*) FROM (SELECT year, COUNT(*) AS n FROM encounters GROUP BY year) AS e",
    ),
    (
        "having",
        "SELECT COUNT(*) FROM (SELECT patient_id FROM encounters HAVING age > 3) AS e",
    ),
    (
        "having_form",
        "SELECT year, COUNT(*) FROM encounters GROUP BY year HAVING COUNT(*)",
    ),
    ("hierarchy_needed", D + "icd_chapter(code) = 'IV'"),
    ("in_list_item", W + "age IN (length_of_stay, 60)"),
    ("in_query_unit", W + "age IN (SELECT age FROM encounters)"),
    ("is_null_operand", W + "NULL IS NULL"),
    (
        "join_needs_unit_key",
        "SELECT COUNT(*) FROM prescriptions AS r JOIN labs AS l ON l.taken = r.started",
    ),
    ("key_not_selected", "SELECT COUNT(*) FROM encounters GROUP BY year"),
    ("like", W + "age LIKE '6%'"),
    ("like_pattern", D + "code LIKE 'E1\\1.9'"),
    ("pattern", D + "code ~ '(E11'"),
    ("text_literal", D + "STARTS_WITH(code, code)"),
    ("text_needed", W + "UPPER(age) = '3'"),
    ("text_part", D + "LEFT(code, 0) = ''"),
    (
        "text_width",
        D
        + f"REPLACE(REPLACE(REPLACE(code, 'E', '{100 * 'x'}'), 'x', '{100 * 'y'}'), 'y', '{100 * 'z'}') = ''",
    ),
    ("literal_range", W + "age < 9223372036854775808"),
    ("literal_selected", "SELECT 1, COUNT(*) FROM encounters"),
    ("literal_type", W + "age = 'sixty'"),
    (
        "answer_window",
        "SELECT year, LAG(COUNT(*)) OVER () AS n FROM encounters GROUP BY year",
    ),
    (
        "answer_window_order",
        "SELECT year, SUM(COUNT(*)) OVER (ORDER BY COUNT(*)) AS n FROM encounters GROUP BY year",
    ),
    (
        "answer_window_rows",
        "SELECT year, SUM(COUNT(*)) OVER () AS n FROM encounters GROUP BY year HAVING COUNT(*) > 1",
    ),
    (
        "answer_window_size",
        "SELECT age, length_of_stay, SUM(COUNT(*)) OVER () AS n FROM encounters GROUP BY age, length_of_stay",
    ),
    ("computed_form", "SELECT CASE WHEN COUNT(*) > 9 THEN 1 END AS n FROM encounters"),
    ("computed_operand", "SELECT COUNT(*) * 'x' AS n FROM encounters"),
    ("computed_size", f"SELECT {'+'.join(['COUNT(*)'] * 42)} AS n FROM encounters"),
    ("division_by_zero", "SELECT COUNT(*) / 0 AS n FROM encounters"),
    ("results_only", W + "LN(age) > 2"),
    ("round_digits", "SELECT ROUND(AVG(age), -1) AS n FROM encounters"),
    ("min_max", "SELECT MAX(age) FROM encounters"),
    ("name_needed", "SELECT age >= 65, COUNT(*) FROM encounters GROUP BY 1"),
    ("no_bounds", "SELECT SUM(encounter_id) FROM encounters"),
    ("no_public_domain", "SELECT code, COUNT(*) FROM diagnoses GROUP BY code"),
    ("not_grouped", "SELECT year, COUNT(*) FROM encounters"),
    ("null_literal", W + "discharged_to = NULL"),
    ("number_needed", W + "ROUND(department, 1) = 1"),
    (
        "nullable_unit_key",
        f"SELECT COUNT(*) FROM encounters AS e {L} WHERE l.patient_id IN (SELECT patient_id FROM patients)",
    ),
    ("operand", W + "CASE 1 WHEN 1 THEN age END > 2"),
    (
        "order_term",
        "SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY 1) AS n FROM encounters) AS e",
    ),
    ("power", W + "POWER(age, 0.5) > 8"),
    ("quantile", "SELECT QUANTILE(age, 2) FROM encounters"),
    ("result_types", W + "COALESCE(discharged_to, 0) = 'home'"),
    ("round_places", W + "ROUND(age, length_of_stay) = 60"),
    (
        "row_bound_too_large",
        "SELECT COUNT(*) FROM diagnoses AS a "
        + " ".join(
            f"JOIN diagnoses AS {n} ON {n}.patient_id = a.patient_id"
            for n in "bcdefghijk"
        ),
    ),
    ("select_item", "SELECT age + 1 AS x, COUNT(*) FROM encounters"),
    (
        "subquery_place",
        f"SELECT COUNT(*) FROM encounters AS e {L} AND EXISTS (SELECT * FROM patients AS p WHERE p.patient_id = e.patient_id)",
    ),
    ("subquery_tie", W + "EXISTS (SELECT * FROM labs AS l WHERE l.taken = admitted)"),
    (
        "answer_size",
        "SELECT age, year, "
        + ", ".join(f"COUNT(*) AS n{number}" for number in range(250))
        + " FROM encounters GROUP BY age, year",
    ),
    (
        "too_many_groups",
        "SELECT age, length_of_stay, COUNT(*) FROM encounters GROUP BY age, length_of_stay",
    ),
    (
        "union_columns",
        "SELECT COUNT(*) FROM (SELECT patient_id, age FROM encounters UNION ALL SELECT patient_id, drug FROM prescriptions) AS u",
    ),
    (
        "union_unit_key",
        "SELECT COUNT(*) FROM (SELECT patient_id, age FROM encounters UNION ALL SELECT age, patient_id FROM encounters) AS u",
    ),
    ("unit_key_opaque", W + "patient_id = 'P0000001'"),
    ("unknown_column", W + "weight > 80"),
    ("unknown_table", "SELECT COUNT(*) FROM encounter"),
    ("using", "SELECT COUNT(*) FROM labs JOIN labs AS b USING (test)"),
    (
        "lateral_join",
        "SELECT COUNT(*) FROM encounters AS e LEFT JOIN LATERAL (SELECT value FROM labs AS l WHERE l.patient_id = e.patient_id LIMIT 3) AS x ON TRUE",
    ),
    ("qualified_table", "SELECT COUNT(*) FROM warehouse.encounters"),
    (
        "window_form",
        "SELECT COUNT(*) FROM (SELECT patient_id, LAG(age, age) OVER (PARTITION BY patient_id ORDER BY admitted) AS x FROM encounters) AS e",
    ),
    (
        "window_partition",
        "SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY year ORDER BY admitted) AS n FROM encounters) AS e",
    ),
    (
        "window_place",
        "SELECT ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY admitted) AS n, COUNT(*) FROM encounters",
    ),
    ("zero_sensitivity", "SELECT SUM(age * 0) FROM encounters"),
)

V = "SELECT COUNT(*) FROM visits"
_CASES = " ".join(f"WHEN v.visit_no = {i} THEN {i}" for i in range(1, 60))
_LONG = f"p.born + CASE {_CASES} ELSE 0 END"

REFUSED_ON_CLINIC: tuple[tuple[str, str], ...] = (
    ("in_query_one", V + " WHERE ward IN (SELECT ward, floor FROM wards)"),
    ("level", V + " WHERE level(code, 'use') = 'diabetes'"),
    ("level", V + " WHERE level(drug, 'colour') = 'red'"),
    ("level", V + " WHERE level(drug, 'usse') = 'diabetes'"),
    ("level", V + " WHERE icd_chapter(drug) = 'diabetes'"),
    ("function", V + " WHERE levl(drug, 'use') = 'diabetes'"),
    ("private_table_needed", "SELECT COUNT(*) FROM wards"),
    (
        "public_first",
        "SELECT COUNT(*) FROM wards AS w LEFT JOIN visits AS v ON v.ward = w.ward",
    ),
    ("public_join_key", V + " AS v JOIN wards AS w ON w.floor = v.visit_no"),
    ("public_query", V + " WHERE ward IN (SELECT ward FROM wards GROUP BY ward)"),
    (
        "too_complex",
        f"SELECT COUNT(*) FROM persons AS p LEFT JOIN visits AS v ON v.person_id = p.person_id AND age_years({_LONG}, {_LONG}) BETWEEN 1 AND 3",
    ),
)

UNREACHED = {
    "no_cells": "no manifest declares an empty list",
    "row_bound_needed": "no manifest leaves a private table without a row maximum",
    "too_costly": "how much is too much follows from the installation's settings",
}
"""Rules that no text meets: they stand behind another check, in case it fails."""
