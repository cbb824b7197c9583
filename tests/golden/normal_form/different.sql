-- Groups of texts that look like the first one, each of which asks another question.

SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age >= 19 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 20 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age < 19 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age <> 19 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters GROUP BY ward;
SELECT ward, COUNT(age) AS n FROM encounters GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 OR age IS NULL GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 AND urgent GROUP BY ward;
SELECT ward, COUNT(DISTINCT patient_id) AS n FROM encounters WHERE age > 19 GROUP BY ward;
SELECT severity, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY severity;
SELECT ward, urgent, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY ward, urgent;
SELECT ward, SUM(age) AS n FROM encounters WHERE age > 19 GROUP BY ward;
SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM encounters WHERE age > 19 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY ward HAVING SUM(days) > 5;
SELECT ward, COUNT(*) AS n FROM encounters WHERE NOT (age > 19) GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age BETWEEN 20 AND 119 GROUP BY ward;
SELECT ward, COUNT(days) AS n FROM encounters WHERE age > 19 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE COALESCE(age > 19, TRUE) GROUP BY ward;
SELECT ward, SUM(CASE WHEN age > 19 THEN 2 ELSE 0 END) AS n FROM encounters GROUP BY ward;
SELECT COALESCE(ward, 'icu') AS ward, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY 1;

SELECT sex, COUNT(*) AS n FROM patients WHERE region IN ('nord', 'süd') GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE region IN ('nord', '東') GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE region IN ('nord') GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE region NOT IN ('nord', 'süd') GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE region IN ('nord', 'süd', '東') GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE region = 'nord' AND region = 'süd' GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE NOT COALESCE(region IN ('東'), FALSE) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE region <> '東' OR region IS NULL GROUP BY sex;
SELECT smoker, COUNT(*) AS n FROM patients WHERE region IN ('nord', 'süd') GROUP BY smoker;

SELECT COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND (severity = 3 OR urgent);
SELECT COUNT(*) AS n FROM encounters WHERE (ward = 'icu' AND severity = 3) OR urgent;
SELECT COUNT(*) AS n FROM encounters WHERE ward = 'icu' OR (severity = 3 AND urgent);
SELECT COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND severity = 3 AND urgent;
SELECT COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND (severity = 3 OR NOT urgent);
SELECT COUNT(*) AS n FROM encounters WHERE ward <> 'icu' AND (severity = 3 OR urgent);
SELECT COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND (severity <> 3 OR urgent);
SELECT COUNT(*) AS n FROM encounters WHERE NOT (ward = 'icu' AND (severity = 3 OR urgent));
SELECT COUNT(*) AS n FROM encounters WHERE ward = 'er' AND (severity = 3 OR urgent);

SELECT ward, AVG(days) AS stay FROM encounters GROUP BY ward;
SELECT ward, AVG(age) AS stay FROM encounters GROUP BY ward;
SELECT ward, SUM(days) AS stay FROM encounters GROUP BY ward;
SELECT ward, SUM(days) AS total, COUNT(*) AS n FROM encounters GROUP BY ward;
SELECT ward, AVG(COALESCE(days, 0)) AS stay FROM encounters GROUP BY ward;
SELECT ward, AVG(days) AS stay FROM encounters WHERE days > 0 GROUP BY ward;
SELECT ward, AVG(days) AS stay FROM encounters WHERE days <> 0 GROUP BY ward;
SELECT ward, AVG(-days) AS stay FROM encounters GROUP BY ward;
SELECT ward, AVG(days + 1) AS stay FROM encounters GROUP BY ward;
SELECT ward, AVG(2 * days) AS stay FROM encounters GROUP BY ward;
SELECT ward, MEDIAN(days) AS stay FROM encounters GROUP BY ward;
SELECT ward, AVG(days) AS stay, COUNT(*) AS n FROM encounters GROUP BY ward;

SELECT level, MEDIAN(result) AS m FROM labs GROUP BY level;
SELECT level, MEDIAN(raw_result) AS m FROM (SELECT patient_id, level, result AS raw_result FROM labs WHERE analyte = 'k') AS t GROUP BY level;
SELECT level, QUANTILE(result, 0.5, 32) AS m FROM labs GROUP BY level;
SELECT level, AVG(result) AS m FROM labs GROUP BY level;
SELECT analyte, MEDIAN(result) AS m FROM labs GROUP BY analyte;

SELECT COUNT(*) AS n FROM encounters WHERE started >= DATE '2020-02-01' AND started < DATE '2020-03-01';
SELECT COUNT(*) AS n FROM encounters WHERE started BETWEEN '2020-02-01' AND '2020-03-01';
SELECT COUNT(*) AS n FROM encounters WHERE started > '2020-02-01' AND started < '2020-03-01';
SELECT COUNT(*) AS n FROM encounters WHERE ended >= DATE '2020-02-01' AND ended < DATE '2020-03-01';
SELECT COUNT(*) AS n FROM encounters WHERE started >= DATE '2020-02-01' OR started < DATE '2020-03-01';
SELECT COUNT(*) AS n FROM encounters WHERE EXTRACT(MONTH FROM started) = 3;
SELECT COUNT(ended) AS n FROM encounters WHERE started >= DATE '2020-02-01' AND started < DATE '2020-03-01';

SELECT analyte, COUNT(*) AS n FROM labs WHERE taken >= TIMESTAMP '2020-02-29 00:00:00' AND taken < TIMESTAMP '2020-03-01 00:00:00' GROUP BY analyte;
SELECT analyte, COUNT(*) AS n FROM labs WHERE taken >= TIMESTAMP '2020-02-29 00:00:00' AND taken <= TIMESTAMP '2020-03-01 00:00:00' GROUP BY analyte;
SELECT analyte, COUNT(*) AS n FROM labs WHERE taken > TIMESTAMP '2020-02-29 00:00:00' AND taken < TIMESTAMP '2020-03-01 00:00:00' GROUP BY analyte;
SELECT analyte, COUNT(*) AS n FROM labs WHERE taken >= TIMESTAMP '2020-02-29 00:00:00' AND taken <= TIMESTAMP '2020-02-29 23:59:59' GROUP BY analyte;
SELECT analyte, COUNT(*) AS n FROM labs WHERE CAST(taken AS DATE) >= '2020-02-29' GROUP BY analyte;

SELECT CASE WHEN age < 20 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters GROUP BY band;
SELECT CASE WHEN age < 20 THEN 'young' WHEN age < 64 THEN 'adult' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters GROUP BY band;
SELECT CASE WHEN age < 65 THEN 'adult' WHEN age < 20 THEN 'young' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters GROUP BY band;
SELECT CASE WHEN age < 20 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters GROUP BY band;
SELECT CASE WHEN age < 20 THEN 'adult' WHEN age < 65 THEN 'young' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters GROUP BY band;
SELECT CASE WHEN age < 20 THEN 'young' WHEN age < 65 THEN 'adult' WHEN age >= 65 THEN 'old' END AS band, COUNT(*) AS n FROM encounters GROUP BY band;
SELECT CASE WHEN age < 20 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'young' END AS band, COUNT(*) AS n FROM encounters GROUP BY band;

SELECT smoker = TRUE AS s, COUNT(*) AS n FROM patients GROUP BY s;
SELECT smoker = FALSE AS s, COUNT(*) AS n FROM patients GROUP BY s;
SELECT COALESCE(smoker, FALSE) AS s, COUNT(*) AS n FROM patients GROUP BY s;
SELECT COALESCE(smoker, TRUE) AS s, COUNT(*) AS n FROM patients GROUP BY s;
SELECT smoker IS NULL AS s, COUNT(*) AS n FROM patients GROUP BY s;
SELECT CASE WHEN smoker THEN TRUE ELSE FALSE END AS s, COUNT(*) AS n FROM patients GROUP BY s;

SELECT p.sex, COUNT(d.seq) AS n FROM patients p LEFT JOIN diagnoses d ON p.patient_id = d.patient_id AND d.certain GROUP BY p.sex;
SELECT p.sex, COUNT(*) AS n FROM patients p LEFT JOIN diagnoses d ON p.patient_id = d.patient_id AND d.certain GROUP BY p.sex;
SELECT p.sex, COUNT(d.seq) AS n FROM patients p LEFT JOIN diagnoses d ON p.patient_id = d.patient_id WHERE NOT d.certain GROUP BY p.sex;
SELECT p.sex, COUNT(d.seq) AS n FROM patients p LEFT JOIN diagnoses d ON p.patient_id = d.patient_id GROUP BY p.sex;
SELECT p.sex, COUNT(d.code) AS n FROM patients p LEFT JOIN diagnoses d ON p.patient_id = d.patient_id AND d.certain GROUP BY p.sex;
SELECT p.sex, COUNT(COALESCE(d.seq, 1)) AS n FROM patients p LEFT JOIN diagnoses d ON p.patient_id = d.patient_id AND d.certain GROUP BY p.sex;
SELECT p.sex, COUNT(d.one) AS n FROM patients p LEFT JOIN (SELECT patient_id, certain, COALESCE(code, 'E11') AS one FROM diagnoses) d ON p.patient_id = d.patient_id GROUP BY p.sex;

SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE certain) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM diagnoses WHERE certain) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE NOT certain) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients JOIN diagnoses USING (patient_id) WHERE certain GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE certain GROUP BY patient_id HAVING COUNT(*) > 1) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM encounters WHERE urgent) GROUP BY sex;

SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started) AS r FROM encounters) AS t WHERE r = 1 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started DESC) AS r FROM encounters) AS t WHERE r = 1 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started) AS r FROM encounters) AS t WHERE r = 2 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY ended) AS r FROM encounters) AS t WHERE r = 1 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started) AS r FROM encounters WHERE urgent) AS t WHERE r = 1 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, urgent, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started) AS r FROM encounters) AS t WHERE r = 1 AND urgent GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id, ward ORDER BY started) AS r FROM encounters) AS t WHERE r = 1 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started NULLS FIRST, age) AS r FROM encounters) AS t WHERE r = 1 GROUP BY ward;

SELECT n, COUNT(*) AS k FROM (SELECT patient_id, COUNT(*) AS n FROM encounters GROUP BY patient_id) AS t GROUP BY n;
SELECT n, COUNT(*) AS k FROM (SELECT patient_id, COUNT(*) AS n FROM encounters WHERE urgent GROUP BY patient_id) AS t GROUP BY n;
SELECT n, COUNT(*) AS k FROM (SELECT patient_id, COUNT(age) AS n FROM encounters GROUP BY patient_id) AS t GROUP BY n;
SELECT n, COUNT(*) AS k FROM (SELECT patient_id, urgent, COUNT(*) AS n FROM encounters GROUP BY patient_id, urgent) AS t GROUP BY n;
SELECT n, COUNT(*) AS k FROM (SELECT patient_id, COUNT(*) AS n FROM diagnoses GROUP BY patient_id) AS t GROUP BY n;

SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward FROM encounters UNION ALL SELECT patient_id, ward FROM labs) AS u GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward FROM encounters UNION ALL SELECT patient_id, ward FROM encounters) AS u GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward FROM encounters WHERE urgent UNION ALL SELECT patient_id, ward FROM labs) AS u GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward FROM encounters UNION ALL SELECT patient_id, ward FROM labs UNION ALL SELECT patient_id, ward FROM labs) AS u GROUP BY ward;

SELECT COUNT(*) AS n FROM encounters a JOIN encounters b USING (patient_id) WHERE a.urgent AND a.severity = 3;
SELECT COUNT(*) AS n FROM encounters a JOIN encounters b USING (patient_id) WHERE a.urgent AND b.severity = 3;
SELECT COUNT(*) AS n FROM encounters a JOIN encounters b USING (patient_id) WHERE a.started < b.started AND a.severity = 3;
SELECT COUNT(*) AS n FROM encounters a JOIN labs b USING (patient_id) WHERE a.urgent AND a.severity = 3;

SELECT COUNT(*) AS n FROM encounters WHERE ended - started >= 7;
SELECT COUNT(*) AS n FROM encounters WHERE started - ended >= 7;
SELECT COUNT(*) AS n FROM encounters WHERE ended - started > 7;
SELECT COUNT(*) AS n FROM encounters WHERE ended >= started;
SELECT COUNT(*) AS n FROM encounters WHERE days >= 7;

SELECT COUNT(*) AS n FROM encounters WHERE wide + 1 > 5;
SELECT COUNT(*) AS n FROM encounters WHERE wide > 5;
SELECT COUNT(*) AS n FROM encounters WHERE vast > 4;
SELECT COUNT(*) AS n FROM encounters WHERE wide + 1 > 4;

-- decimals of other scales have other digits and other limits
SELECT COUNT(*) AS n FROM encounters WHERE CAST(cost * 1.0 AS TEXT) LIKE '%000';
SELECT COUNT(*) AS n FROM encounters WHERE CAST(cost * (1.001 - 0.001) AS TEXT) LIKE '%000';
