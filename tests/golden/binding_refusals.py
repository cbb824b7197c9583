"""Texts that read well and mean what is not allowed: code, rule, line, column."""

REFUSED_AT_BINDING = (
    (
        "SELECT COUNT(*) FROM encounters JOIN patients USING (patient_id) WHERE sex = 'f'",
        "sql_not_allowed",
        "ambiguous_name",
        1,
        72,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN encounters USING (patient_id)",
        "sql_not_allowed",
        "ambiguous_name",
        1,
        38,
    ),
    (
        "SELECT age >= 60, COUNT(*) FROM encounters GROUP BY 1",
        "sql_not_allowed",
        "name_needed",
        1,
        8,
    ),
    (
        "SELECT age + 1, COUNT(*) FROM encounters GROUP BY 1",
        "sql_not_allowed",
        "name_needed",
        1,
        8,
    ),
    (
        "WITH patients AS (SELECT patient_id FROM encounters) SELECT COUNT(*) FROM patients",
        "sql_not_allowed",
        "common_table_name",
        1,
        6,
    ),
    (
        "WITH a AS (SELECT patient_id FROM encounters), a AS (SELECT patient_id FROM "
        "encounters) SELECT COUNT(*) FROM a",
        "sql_not_allowed",
        "common_table_name",
        1,
        48,
    ),
    (
        "WITH a AS (SELECT patient_id FROM b), b AS (SELECT patient_id FROM encounters) "
        "SELECT COUNT(*) FROM a",
        "sql_not_allowed",
        "unknown_table",
        1,
        35,
    ),
    ("SELECT COUNT(*) FROM hospital", "sql_not_allowed", "unknown_table", 1, 22),
    (
        "SELECT COUNT(*) FROM encounters WHERE agee = 1",
        "unknown_column",
        "unknown_column",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE f.age = 1",
        "unknown_column",
        "unknown_column",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT * FROM encounters e WHERE "
        "e.patient_id = encounters.patient_id AND e.nothing = 1)",
        "unknown_column",
        "unknown_column",
        1,
        121,
    ),
    (
        "SELECT ward AS x, sex AS x, COUNT(*) FROM encounters GROUP BY 1, 2",
        "sql_not_allowed",
        "duplicate_name",
        1,
        19,
    ),
    (
        "SELECT ward, COUNT(*) AS ward FROM encounters GROUP BY encounters.ward",
        "sql_not_allowed",
        "duplicate_name",
        1,
        14,
    ),
    (
        "SELECT patient_id, COUNT(*) FROM encounters GROUP BY patient_id",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        54,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id = 7",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id > 7",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id IN (1, 2)",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id BETWEEN 1 AND 2",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id IS NULL",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id + 1 = 2",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id = age",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE COALESCE(patient_id, 1) = 1",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        48,
    ),
    ("SELECT MIN(patient_id) FROM encounters", "sql_not_allowed", "min_max", 1, 8),
    (
        "SELECT SUM(patient_id) FROM encounters",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        12,
    ),
    (
        "SELECT COUNT(*) FROM encounters ORDER BY patient_id",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, MIN(patient_id) AS m FROM encounters GROUP "
        "BY patient_id) AS d",
        "sql_not_allowed",
        "count_unit_key",
        1,
        46,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, LAG(age) OVER (PARTITION BY patient_id "
        "ORDER BY patient_id) AS a FROM encounters) AS d",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        90,
    ),
    (
        "SELECT COUNT(patient_id) FROM encounters",
        "sql_not_allowed",
        "count_unit_key",
        1,
        8,
    ),
    (
        "SELECT COUNT(*) FROM patients p LEFT JOIN encounters e USING (patient_id) WHERE "
        "e.patient_id NOT IN (SELECT patient_id FROM encounters)",
        "sql_not_allowed",
        "nullable_unit_key",
        1,
        81,
    ),
    (
        "SELECT COUNT(*) FROM patients p WHERE p.patient_id NOT IN (SELECT e.patient_id FROM "
        "patients q LEFT JOIN encounters e ON e.patient_id = q.patient_id)",
        "sql_not_allowed",
        "nullable_unit_key",
        1,
        60,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT e.patient_id, COUNT(*) AS n FROM patients p LEFT JOIN "
        "encounters e ON e.patient_id = p.patient_id GROUP BY e.patient_id) AS d",
        "sql_not_allowed",
        "nullable_unit_key",
        1,
        137,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT p.patient_id, ROW_NUMBER() OVER (PARTITION BY "
        "e.patient_id) AS n FROM patients p LEFT JOIN encounters e ON e.patient_id = "
        "p.patient_id) AS d",
        "sql_not_allowed",
        "nullable_unit_key",
        1,
        76,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT e.patient_id FROM patients p LEFT JOIN encounters e ON "
        "e.patient_id = p.patient_id UNION ALL SELECT patient_id FROM patients) AS d",
        "sql_not_allowed",
        "nullable_unit_key",
        1,
        23,
    ),
    (
        "SELECT COUNT(*) FROM patients p LEFT JOIN encounters e ON e.patient_id = "
        "p.patient_id WHERE EXISTS (SELECT * FROM encounters x WHERE x.patient_id = "
        "e.patient_id)",
        "sql_not_allowed",
        "nullable_unit_key",
        1,
        134,
    ),
    (
        "SELECT COUNT(*) FROM patients p LEFT JOIN encounters e ON e.patient_id = "
        "p.patient_id WHERE p.patient_id = e.patient_id",
        "sql_not_allowed",
        "nullable_unit_key",
        1,
        93,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age = 'x'",
        "sql_not_allowed",
        "literal_type",
        1,
        45,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE admitted = 5",
        "sql_not_allowed",
        "literal_type",
        1,
        50,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE smoker = 1",
        "sql_not_allowed",
        "literal_type",
        1,
        48,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age = NULL",
        "sql_not_allowed",
        "null_literal",
        1,
        45,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age IN (1, NULL)",
        "sql_not_allowed",
        "null_literal",
        1,
        50,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age = 9223372036854775808",
        "sql_not_allowed",
        "literal_range",
        1,
        45,
    ),
    (
        "SELECT SUM(CASE WHEN age > 1 THEN 0.25 ELSE 99999999999999999 END) FROM encounters",
        "sql_not_allowed",
        "literal_range",
        1,
        12,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE ward = age",
        "sql_not_allowed",
        "column_types",
        1,
        46,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE admitted = seen",
        "sql_not_allowed",
        "column_types",
        1,
        50,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age",
        "sql_not_allowed",
        "boolean_needed",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE NULL",
        "sql_not_allowed",
        "condition",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE 1 = '1'",
        "sql_not_allowed",
        "literal_type",
        1,
        43,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE 1 BETWEEN age AND 2",
        "sql_not_allowed",
        "operand",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE 5 IN (NULL)",
        "sql_not_allowed",
        "null_literal",
        1,
        45,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE 5 IS NULL",
        "sql_not_allowed",
        "is_null_operand",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age IN (1, level)",
        "sql_not_allowed",
        "in_list_item",
        1,
        50,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age LIKE 'x%'",
        "sql_not_allowed",
        "like",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE 'abc' LIKE 'a%'",
        "sql_not_allowed",
        "like",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE code LIKE ward",
        "sql_not_allowed",
        "like",
        1,
        49,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE code LIKE 'abc'",
        "sql_not_allowed",
        "like_pattern",
        1,
        49,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE code LIKE 'a%b'",
        "sql_not_allowed",
        "like_pattern",
        1,
        49,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE code LIKE '%'",
        "sql_not_allowed",
        "like_pattern",
        1,
        49,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE code LIKE 'a_%'",
        "sql_not_allowed",
        "like_pattern",
        1,
        49,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE code + 1 = 2",
        "sql_not_allowed",
        "arithmetic",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE admitted + discharged > 1",
        "sql_not_allowed",
        "arithmetic",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE 1 + admitted > '2024-01-01'",
        "sql_not_allowed",
        "arithmetic",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE admitted - '2024-01-01' > 1",
        "sql_not_allowed",
        "arithmetic",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE -admitted > 1",
        "sql_not_allowed",
        "arithmetic",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age / 0 = 1",
        "sql_not_allowed",
        "division",
        1,
        45,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age % 0.0 = 1",
        "sql_not_allowed",
        "division",
        1,
        45,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE ABS(code) = 1",
        "sql_not_allowed",
        "number_needed",
        1,
        43,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE DIV(age, 1.5) = 1",
        "sql_not_allowed",
        "number_needed",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE ROUND(age, 1.5) = 1",
        "sql_not_allowed",
        "round_places",
        1,
        50,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE TRUNC(age, 19) = 1",
        "sql_not_allowed",
        "round_places",
        1,
        50,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE POWER(age, 5) = 1",
        "sql_not_allowed",
        "power",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE POWER(age, level) = 1",
        "sql_not_allowed",
        "power",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE WIDTH_BUCKET(age, 10, 0, 5) = 1",
        "sql_not_allowed",
        "width_bucket",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE WIDTH_BUCKET(age, 0, 10, 0) = 1",
        "sql_not_allowed",
        "width_bucket",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE WIDTH_BUCKET(age, 0, level, 5) = 1",
        "sql_not_allowed",
        "width_bucket",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE LEAST(code, 'E11') = 'E11'",
        "sql_not_allowed",
        "extreme",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE LEAST(age, NULL) = 1",
        "sql_not_allowed",
        "null_literal",
        1,
        50,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE GREATEST(age, code) = 1",
        "sql_not_allowed",
        "result_types",
        1,
        53,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE (age * 0.0000000001) * 0.000000001 = 1",
        "sql_not_allowed",
        "decimal_places",
        1,
        62,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE DATE_DIFF('week', admitted, discharged) = 1",
        "sql_not_allowed",
        "date_diff",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE DATE_DIFF('day', seen, discharged) = 1",
        "sql_not_allowed",
        "date_diff",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age_years(seen, admitted) = 1",
        "sql_not_allowed",
        "age_years",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXTRACT(HOUR FROM admitted) = 1",
        "sql_not_allowed",
        "extract_operand",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXTRACT(YEAR FROM age) = 1",
        "sql_not_allowed",
        "extract_operand",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE CAST(smoker AS DATE) = '2024-01-31'",
        "sql_not_allowed",
        "cast",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE icd_chapter(code) = 'I'",
        "sql_not_allowed",
        "hierarchy_needed",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE level(code, 'kind') = 'I'",
        "sql_not_allowed",
        "hierarchy_needed",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE icd_chapter(age) = 'I'",
        "sql_not_allowed",
        "hierarchy_needed",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age_band(age, 0) = '0-9'",
        "sql_not_allowed",
        "age_band",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age_band(visits, 10) = '0-9'",
        "sql_not_allowed",
        "age_band",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age_band(age, level) = '0-9'",
        "sql_not_allowed",
        "age_band",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age_band(age - 5, 10) = '0-9'",
        "sql_not_allowed",
        "age_band",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE CASE WHEN smoker THEN 1 ELSE 'x' END = 1",
        "sql_not_allowed",
        "result_types",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE COALESCE(stay, code) > 1",
        "sql_not_allowed",
        "result_types",
        1,
        54,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE CASE WHEN smoker THEN NULL END IS NULL",
        "sql_not_allowed",
        "null_literal",
        1,
        61,
    ),
    ("SELECT COUNT(*) FROM wards", "sql_not_allowed", "private_table_needed", 1, 22),
    (
        "SELECT COUNT(*) FROM wards w LEFT JOIN encounters e ON e.ward = w.ward",
        "sql_not_allowed",
        "public_first",
        1,
        22,
    ),
    (
        "SELECT COUNT(*) FROM wards w JOIN wards v ON v.ward = w.ward JOIN encounters e ON "
        "e.ward = w.ward",
        "sql_not_allowed",
        "public_first",
        1,
        22,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN patients p ON p.sex = encounters.sex",
        "sql_not_allowed",
        "join_needs_unit_key",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN patients p ON p.patient_id = "
        "encounters.patient_id OR p.sex = 'f'",
        "sql_not_allowed",
        "join_needs_unit_key",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN patients p ON NOT p.patient_id = "
        "encounters.patient_id",
        "sql_not_allowed",
        "join_needs_unit_key",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN patients p ON p.patient_id <> "
        "encounters.patient_id",
        "sql_not_allowed",
        "join_needs_unit_key",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN (SELECT age FROM encounters) AS d ON d.age = "
        "encounters.age",
        "sql_not_allowed",
        "join_needs_unit_key",
        1,
        38,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN patients USING (sex)",
        "sql_not_allowed",
        "using",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN wards USING (ward)",
        "sql_not_allowed",
        "public_join_key",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN wards w ON w.ward = encounters.ward",
        "sql_not_allowed",
        "public_join_key",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters JOIN wards w ON w.ward > encounters.ward",
        "sql_not_allowed",
        "public_join_key",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters LEFT JOIN patients p ON p.patient_id = "
        "encounters.patient_id AND EXISTS (SELECT * FROM encounters x WHERE x.patient_id = "
        "p.patient_id)",
        "sql_not_allowed",
        "subquery_place",
        1,
        33,
    ),
    (
        "SELECT COUNT(*) FROM encounters e LEFT JOIN patients p ON p.patient_id = "
        "e.patient_id AND e.patient_id IN (SELECT patient_id FROM patients)",
        "sql_not_allowed",
        "subquery_place",
        1,
        35,
    ),
    (
        "SELECT COUNT(*) FROM encounters a JOIN encounters b0 ON b0.patient_id = "
        "a.patient_id JOIN encounters b1 ON b1.patient_id = a.patient_id JOIN encounters b2 "
        "ON b2.patient_id = a.patient_id JOIN encounters b3 ON b3.patient_id = a.patient_id "
        "JOIN encounters b4 ON b4.patient_id = a.patient_id JOIN encounters b5 ON "
        "b5.patient_id = a.patient_id JOIN encounters b6 ON b6.patient_id = a.patient_id "
        "JOIN encounters b7 ON b7.patient_id = a.patient_id JOIN encounters b8 ON "
        "b8.patient_id = a.patient_id JOIN encounters b9 ON b9.patient_id = a.patient_id "
        "JOIN encounters b10 ON b10.patient_id = a.patient_id JOIN encounters b11 ON "
        "b11.patient_id = a.patient_id JOIN encounters b12 ON b12.patient_id = a.patient_id "
        "JOIN encounters b13 ON b13.patient_id = a.patient_id JOIN encounters b14 ON "
        "b14.patient_id = a.patient_id",
        "sql_not_allowed",
        "row_bound_too_large",
        1,
        443,
    ),
    (
        "SELECT COUNT(*) FROM encounters  JOIN patients p0 USING (patient_id) JOIN patients "
        "p1 USING (patient_id) JOIN patients p2 USING (patient_id) JOIN patients p3 USING "
        "(patient_id) JOIN patients p4 USING (patient_id) JOIN patients p5 USING "
        "(patient_id) JOIN patients p6 USING (patient_id) JOIN patients p7 USING "
        "(patient_id) JOIN patients p8 USING (patient_id) JOIN patients p9 USING "
        "(patient_id) JOIN patients p10 USING (patient_id) JOIN patients p11 USING "
        "(patient_id) JOIN patients p12 USING (patient_id) JOIN patients p13 USING "
        "(patient_id) JOIN patients p14 USING (patient_id) JOIN patients p15 USING "
        "(patient_id) JOIN patients p16 USING (patient_id) JOIN patients p17 USING "
        "(patient_id) JOIN patients p18 USING (patient_id) JOIN patients p19 USING "
        "(patient_id) JOIN patients p20 USING (patient_id) JOIN patients p21 USING "
        "(patient_id) JOIN patients p22 USING (patient_id) JOIN patients p23 USING "
        "(patient_id) JOIN patients p24 USING (patient_id) JOIN patients p25 USING "
        "(patient_id) JOIN patients p26 USING (patient_id) JOIN patients p27 USING "
        "(patient_id) JOIN patients p28 USING (patient_id) JOIN patients p29 USING "
        "(patient_id) JOIN patients p30 USING (patient_id) JOIN patients p31 USING "
        "(patient_id) JOIN patients p32 USING (patient_id)",
        "sql_not_allowed",
        "relation_count",
        1,
        1176,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT * FROM patients p WHERE "
        "p.patient_id = encounters.patient_id AND p.sex = 'x0') OR EXISTS (SELECT * FROM "
        "patients p WHERE p.patient_id = encounters.patient_id AND p.sex = 'x1') OR EXISTS "
        "(SELECT * FROM patients p WHERE p.patient_id = encounters.patient_id AND p.sex = "
        "'x2') OR EXISTS (SELECT * FROM patients p WHERE p.patient_id = "
        "encounters.patient_id AND p.sex = 'x3') OR EXISTS (SELECT * FROM patients p WHERE "
        "p.patient_id = encounters.patient_id AND p.sex = 'x4') OR EXISTS (SELECT * FROM "
        "patients p WHERE p.patient_id = encounters.patient_id AND p.sex = 'x5') OR EXISTS "
        "(SELECT * FROM patients p WHERE p.patient_id = encounters.patient_id AND p.sex = "
        "'x6') OR EXISTS (SELECT * FROM patients p WHERE p.patient_id = "
        "encounters.patient_id AND p.sex = 'x7') OR EXISTS (SELECT * FROM patients p WHERE "
        "p.patient_id = encounters.patient_id AND p.sex = 'x8') OR EXISTS (SELECT * FROM "
        "patients p WHERE p.patient_id = encounters.patient_id AND p.sex = 'x9') OR EXISTS "
        "(SELECT * FROM patients p WHERE p.patient_id = encounters.patient_id AND p.sex = "
        "'x10')",
        "sql_not_allowed",
        "exists_count",
        1,
        1009,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age = 1 AND ward IN (SELECT w.ward FROM wards "
        "w JOIN wards v ON v.ward = w.ward)",
        "sql_not_allowed",
        "public_query",
        1,
        60,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT DISTINCT age FROM encounters) AS d",
        "sql_not_allowed",
        "distinct_below",
        1,
        23,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT age, COUNT(*) AS n FROM encounters GROUP BY age) AS d",
        "sql_not_allowed",
        "group_by_unit",
        1,
        23,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM encounters) AS d",
        "sql_not_allowed",
        "aggregate_place",
        1,
        30,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, age FROM encounters HAVING age > 1) AS d",
        "sql_not_allowed",
        "having",
        1,
        69,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, age FROM encounters GROUP BY patient_id) "
        "AS d",
        "sql_not_allowed",
        "not_grouped",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, MEDIAN(age) AS m FROM encounters GROUP BY "
        "patient_id) AS d",
        "sql_not_allowed",
        "aggregate_place",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, SUM(ward) AS m FROM encounters GROUP BY "
        "patient_id) AS d",
        "sql_not_allowed",
        "aggregate_argument",
        1,
        46,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, BOOL_OR(age) AS m FROM encounters GROUP BY "
        "patient_id) AS d",
        "sql_not_allowed",
        "aggregate_argument",
        1,
        50,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, AVG(age) + 1 AS m FROM encounters GROUP BY "
        "patient_id) AS d",
        "sql_not_allowed",
        "average_opaque",
        1,
        42,
    ),
    (
        "SELECT COUNT(a) FROM (SELECT patient_id, AVG(age) AS a FROM encounters GROUP BY "
        "patient_id) AS d",
        "sql_not_allowed",
        "average_opaque",
        1,
        14,
    ),
    (
        "SELECT a, COUNT(*) FROM (SELECT patient_id, AVG(age) AS a FROM encounters GROUP BY "
        "patient_id) AS d GROUP BY a",
        "sql_not_allowed",
        "average_opaque",
        1,
        110,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id FROM encounters GROUP BY patient_id HAVING "
        "AVG(age) > MIN(age)) AS d",
        "sql_not_allowed",
        "average_opaque",
        1,
        95,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, age FROM encounters UNION ALL SELECT "
        "patient_id FROM encounters) AS d",
        "sql_not_allowed",
        "union_columns",
        1,
        72,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, age FROM encounters UNION ALL SELECT "
        "patient_id, ward FROM encounters) AS d",
        "sql_not_allowed",
        "union_columns",
        1,
        72,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, age FROM encounters UNION ALL SELECT age, "
        "patient_id FROM encounters) AS d",
        "sql_not_allowed",
        "union_unit_key",
        1,
        72,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT age FROM encounters UNION ALL SELECT age FROM "
        "encounters) AS d",
        "sql_not_allowed",
        "union_unit_key",
        1,
        23,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT * FROM patients)",
        "sql_not_allowed",
        "subquery_tie",
        1,
        47,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT * FROM patients p WHERE p.sex "
        "= encounters.sex)",
        "sql_not_allowed",
        "subquery_tie",
        1,
        47,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT * FROM patients p WHERE "
        "p.patient_id = encounters.patient_id OR p.sex = 'f')",
        "sql_not_allowed",
        "subquery_tie",
        1,
        47,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, SUM(age) OVER (PARTITION BY patient_id "
        "ORDER BY age ROWS BETWEEN 2000000 PRECEDING AND CURRENT ROW) AS n FROM encounters) "
        "AS d",
        "sql_not_allowed",
        "window_frame",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT COUNT(*) FROM patients p WHERE "
        "p.patient_id = encounters.patient_id)",
        "sql_not_allowed",
        "exists_form",
        1,
        54,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT 1 FROM patients p WHERE "
        "p.patient_id = encounters.patient_id GROUP BY p.sex)",
        "sql_not_allowed",
        "exists_form",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE EXISTS (SELECT DISTINCT sex FROM patients p "
        "WHERE p.patient_id = encounters.patient_id)",
        "sql_not_allowed",
        "exists_form",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age IN (SELECT age FROM encounters)",
        "sql_not_allowed",
        "in_query_unit",
        1,
        39,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id IN (SELECT sex FROM patients)",
        "sql_not_allowed",
        "in_query_unit",
        1,
        54,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE patient_id IN (SELECT patient_id, sex FROM "
        "patients)",
        "sql_not_allowed",
        "in_query_unit",
        1,
        54,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE ward IN (SELECT ward, ward AS w FROM wards)",
        "sql_not_allowed",
        "in_query_one",
        1,
        48,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE ward IN (SELECT ward FROM wards GROUP BY "
        "ward)",
        "sql_not_allowed",
        "public_query",
        1,
        48,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age IN (SELECT ward FROM wards)",
        "sql_not_allowed",
        "column_types",
        1,
        54,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, EXISTS (SELECT * FROM patients p WHERE "
        "p.patient_id = encounters.patient_id) AS e, COUNT(*) AS n FROM encounters GROUP BY "
        "patient_id) AS d",
        "sql_not_allowed",
        "subquery_place",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (ORDER BY age) AS n FROM "
        "encounters) AS d",
        "sql_not_allowed",
        "window_partition",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY ward) AS n "
        "FROM encounters) AS d",
        "sql_not_allowed",
        "window_partition",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, LAG(age, level) OVER (PARTITION BY "
        "patient_id) AS n FROM encounters) AS d",
        "sql_not_allowed",
        "window_form",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(DISTINCT ward) OVER (PARTITION BY "
        "patient_id) AS n FROM encounters) AS d",
        "sql_not_allowed",
        "window_form",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, LAG(age) OVER (PARTITION BY patient_id "
        "ORDER BY 1) AS n FROM encounters) AS d",
        "sql_not_allowed",
        "order_term",
        1,
        90,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE ROW_NUMBER() OVER (PARTITION BY patient_id) = "
        "1",
        "sql_not_allowed",
        "window_place",
        1,
        39,
    ),
    (
        "SELECT ROW_NUMBER() OVER (PARTITION BY patient_id) AS n, COUNT(*) FROM encounters "
        "GROUP BY 1",
        "sql_not_allowed",
        "window_place",
        1,
        8,
    ),
    (
        "SELECT sex FROM encounters GROUP BY sex",
        "sql_not_allowed",
        "aggregate_needed",
        1,
        1,
    ),
    ("SELECT 1, COUNT(*) FROM encounters", "sql_not_allowed", "literal_selected", 1, 8),
    ("SELECT sex, COUNT(*) FROM encounters", "sql_not_allowed", "not_grouped", 1, 8),
    (
        "SELECT COUNT(*) FROM encounters GROUP BY sex",
        "sql_not_allowed",
        "key_not_selected",
        1,
        42,
    ),
    (
        "SELECT sex, COUNT(*) FROM encounters GROUP BY 3",
        "sql_not_allowed",
        "group_by_form",
        1,
        47,
    ),
    (
        "SELECT sex, COUNT(*) FROM encounters GROUP BY 2",
        "sql_not_allowed",
        "group_by_form",
        1,
        47,
    ),
    (
        "SELECT COUNT(*) + ward AS n FROM encounters GROUP BY ward",
        "sql_not_allowed",
        "computed_operand",
        1,
        19,
    ),
    (
        "SELECT COUNT(*) * 'x' AS n FROM encounters",
        "sql_not_allowed",
        "computed_operand",
        1,
        19,
    ),
    (
        "SELECT CASE WHEN COUNT(*) > 9 THEN COUNT(*) END AS n FROM encounters",
        "sql_not_allowed",
        "computed_form",
        1,
        8,
    ),
    (
        "SELECT " + "+".join(["COUNT(*)"] * 42) + " AS n FROM encounters",
        "sql_not_allowed",
        "computed_size",
        1,
        8,
    ),
    (
        "SELECT sex, MIN(COUNT(*)) OVER () AS n FROM encounters GROUP BY sex",
        "sql_not_allowed",
        "answer_window",
        1,
        13,
    ),
    (
        "SELECT sex, SUM(COUNT(*)) OVER (ORDER BY COUNT(*)) AS n FROM encounters GROUP BY sex",
        "sql_not_allowed",
        "answer_window_order",
        1,
        13,
    ),
    (
        "SELECT sex, SUM(COUNT(*)) OVER () AS n FROM encounters GROUP BY sex HAVING COUNT(*) > 1",
        "sql_not_allowed",
        "answer_window_rows",
        1,
        13,
    ),
    (
        "SELECT age, admitted, level, SUM(COUNT(*)) OVER () AS n FROM encounters GROUP BY "
        "age, admitted, level",
        "sql_not_allowed",
        "answer_window_size",
        1,
        30,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, RANK() OVER (PARTITION BY patient_id ORDER "
        "BY age) AS n FROM encounters) AS d",
        "sql_not_allowed",
        "rank",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) / 0 AS n FROM encounters",
        "sql_not_allowed",
        "division_by_zero",
        1,
        8,
    ),
    (
        "SELECT ROUND(AVG(age), -1) AS n FROM encounters",
        "sql_not_allowed",
        "round_digits",
        1,
        8,
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE LN(age) > 2",
        "sql_not_allowed",
        "results_only",
        1,
        39,
    ),
    (
        "SELECT age + level AS x, COUNT(*) FROM encounters GROUP BY age",
        "sql_not_allowed",
        "select_item",
        1,
        8,
    ),
    (
        "SELECT code, COUNT(*) FROM encounters GROUP BY code",
        "no_public_domain",
        "no_public_domain",
        1,
        48,
    ),
    (
        "SELECT visits, COUNT(*) FROM encounters GROUP BY visits",
        "no_public_domain",
        "no_public_domain",
        1,
        50,
    ),
    (
        "SELECT seen, COUNT(*) FROM encounters GROUP BY seen",
        "no_public_domain",
        "no_public_domain",
        1,
        48,
    ),
    (
        "SELECT COUNT(DISTINCT code) FROM encounters",
        "no_public_domain",
        "no_public_domain",
        1,
        23,
    ),
    (
        "SELECT age, 0 + age AS b, COUNT(*) FROM encounters GROUP BY 1, 2",
        "too_many_groups",
        "too_many_groups",
        1,
        61,
    ),
    (
        "SELECT age, ward, MEDIAN(age) FROM encounters GROUP BY 1, 2",
        "too_many_groups",
        "too_many_groups",
        1,
        56,
    ),
    (
        f"SELECT age, ward, {', '.join(['COUNT(*)'] * 350)} FROM encounters GROUP BY 1, 2",
        "sql_not_allowed",
        "answer_size",
        1,
        3543,
    ),
    (
        "SELECT age * age AS x, COUNT(*) FROM encounters GROUP BY 1",
        "too_many_groups",
        "too_many_groups",
        1,
        58,
    ),
    ("SELECT MAX(age) FROM encounters", "sql_not_allowed", "min_max", 1, 8),
    ("SELECT BOOL_OR(smoker) FROM encounters", "sql_not_allowed", "aggregate", 1, 8),
    (
        "SELECT FIRST(code ORDER BY age) FROM encounters",
        "sql_not_allowed",
        "aggregate",
        1,
        8,
    ),
    (
        "SELECT COUNT(DISTINCT 1) FROM encounters",
        "sql_not_allowed",
        "count_arguments",
        1,
        23,
    ),
    (
        "SELECT COUNT(CASE WHEN age > 60 THEN patient_id END) FROM encounters",
        "sql_not_allowed",
        "count_unit_key",
        1,
        8,
    ),
    ("SELECT SUM(visits) FROM encounters", "sql_not_allowed", "no_bounds", 1, 12),
    ("SELECT SUM(cost) FROM encounters", "sql_not_allowed", "no_bounds", 1, 12),
    ("SELECT AVG(visits * 0) FROM encounters", "sql_not_allowed", "no_bounds", 1, 12),
    ("SELECT MEDIAN(visits) FROM encounters", "sql_not_allowed", "no_bounds", 1, 15),
    (
        "SELECT SUM(age * 0) FROM encounters",
        "sql_not_allowed",
        "zero_sensitivity",
        1,
        8,
    ),
    ("SELECT SUM(ward) FROM encounters", "sql_not_allowed", "aggregate_argument", 1, 8),
    (
        "SELECT MEDIAN(ward) FROM encounters",
        "sql_not_allowed",
        "aggregate_argument",
        1,
        8,
    ),
    ("SELECT QUANTILE(age, 1) FROM encounters", "sql_not_allowed", "quantile", 1, 8),
    (
        "SELECT QUANTILE(age, level) FROM encounters",
        "sql_not_allowed",
        "quantile",
        1,
        8,
    ),
    (
        "SELECT QUANTILE(age, 0.5, 2000) FROM encounters",
        "sql_not_allowed",
        "quantile",
        1,
        8,
    ),
    (
        "SELECT QUANTILE(age, 0.5, 1) FROM encounters",
        "sql_not_allowed",
        "quantile",
        1,
        8,
    ),
    (
        "SELECT sex, COUNT(*) FROM encounters GROUP BY sex HAVING age > 1",
        "sql_not_allowed",
        "not_grouped",
        1,
        58,
    ),
    (
        "SELECT sex, COUNT(*) FROM encounters GROUP BY sex HAVING COUNT(*) > age + 1",
        "sql_not_allowed",
        "having_form",
        1,
        69,
    ),
    (
        "SELECT COUNT(*) FROM encounters ORDER BY age",
        "sql_not_allowed",
        "not_grouped",
        1,
        42,
    ),
    (
        "SELECT COUNT(*) FROM encounters HAVING COUNT(*)",
        "sql_not_allowed",
        "having_form",
        1,
        40,
    ),
)
