-- Groups of texts that ask the same question; the first of each is the one that was paid.

SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age >= 20 GROUP BY ward;
SELECT ward, COUNT(*) AS visits FROM encounters WHERE 20 <= age GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE NOT (age < 20) GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE age BETWEEN 20 AND 120 GROUP BY ward;
SELECT e.ward AS unit, COUNT(*) AS total FROM encounters AS e WHERE e.age > 19 GROUP BY e.ward;
SELECT ward, COUNT(*) FROM encounters WHERE NOT age <= 19 GROUP BY 1;
SELECT COUNT(*) AS n, ward FROM encounters WHERE age > 19 AND age IS NOT NULL GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE age > 19.5 GROUP BY ward;
SELECT ward, COUNT(age) FROM encounters WHERE age > 19 GROUP BY ward;
SELECT ward, COUNT(*) FROM (SELECT ward, patient_id, age FROM encounters) AS t WHERE age > 19 GROUP BY ward;
WITH adults AS (SELECT patient_id, age, ward, started FROM encounters WHERE age > 19) SELECT ward, COUNT(*) FROM adults GROUP BY ward;
WITH adults AS (SELECT patient_id, ward FROM encounters WHERE age >= 20) SELECT ward, COUNT(*) FROM adults GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY ward ORDER BY n DESC LIMIT 2;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY ward HAVING COUNT(*) > 10;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY ward ORDER BY ward DESC;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age > 19 GROUP BY ward LIMIT 10000;
SELECT ward, COUNT(CASE WHEN age > 19 THEN 1 END) AS n FROM encounters GROUP BY ward;
SELECT ward, SUM(CASE WHEN age > 19 THEN 1 ELSE 0 END) AS n FROM encounters GROUP BY ward;
SELECT ward, SUM(CASE WHEN age <= 19 THEN 0 WHEN age > 19 THEN 1 ELSE 0 END) AS n FROM encounters GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE age > 19 OR age > 40 GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE age > 19 AND age > 5 GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE age > 10 + 9 GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE age - 19 > 0 GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE 2 * age > 39 GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE -age < -19 GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE (age > 19) = TRUE GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE NOT NOT (age > 19) GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE CASE WHEN age > 19 THEN TRUE ELSE FALSE END GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE COALESCE(age > 19, FALSE) GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE age > 19 AND 1 = 1 GROUP BY ward;
SELECT ward, COUNT(*) FROM encounters WHERE age > 19 OR 1 = 2 GROUP BY ward;

SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region IN ('nord', 'süd') GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region IN ('süd', 'nord') GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region = 'nord' OR region = 'süd' GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region = 'süd' OR region = 'nord' GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region <> '東' GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE NOT region = '東' GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region NOT IN ('東') GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE region IN ('nord', 'süd') GROUP BY sex;
SELECT sex, COUNT(region) AS n FROM patients WHERE region IN ('nord', 'süd') GROUP BY sex;
SELECT p.sex, COUNT(DISTINCT p.patient_id) AS people FROM patients p WHERE p.region IN ('nord', 'süd', 'nord') GROUP BY p.sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region IN ('nord') OR region IN ('süd') GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE NOT (region <> 'nord' AND region <> 'süd') GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region LIKE 'n%' OR region LIKE 's%' GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE region < '東' GROUP BY sex;
SELECT sex, SUM(CASE region WHEN 'nord' THEN 1 WHEN 'süd' THEN 1 ELSE 0 END) AS n FROM patients GROUP BY sex;
SELECT sex, SUM(CASE region WHEN 'süd' THEN 1 WHEN 'nord' THEN 1 WHEN '東' THEN 0 ELSE 0 END) AS n FROM patients GROUP BY sex;

SELECT urgent, COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND severity = 3 GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE severity = 3 AND ward = 'icu' GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE NOT (severity <> 3 OR ward <> 'icu') GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE NOT (NOT ward = 'icu' OR NOT severity = 3) GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE severity > 2 AND ward IN ('icu') GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE severity NOT IN (1, 2) AND ward = 'icu' GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM (SELECT patient_id, severity, urgent FROM encounters WHERE ward = 'icu') AS i WHERE severity = 3 GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM (SELECT patient_id, ward, urgent FROM encounters WHERE severity = 3) AS i WHERE ward = 'icu' GROUP BY urgent;
WITH i AS (SELECT patient_id, urgent, severity FROM encounters WHERE ward = 'icu'), s AS (SELECT patient_id, urgent FROM i WHERE severity = 3) SELECT urgent, COUNT(*) FROM s GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE (ward = 'icu' AND severity = 3) AND ward = 'icu' GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE (ward = 'icu' AND severity = 3) OR (ward = 'icu' AND severity = 3) GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND (severity = 3 OR ward = 'er') GROUP BY urgent;
SELECT urgent, COUNT(CASE WHEN severity = 3 THEN 'x' END) AS n FROM encounters WHERE ward = 'icu' GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND severity >= 3 GROUP BY urgent ORDER BY urgent;
SELECT urgent, COUNT(severity) AS n FROM encounters WHERE ward = 'icu' AND severity = 3 GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND severity BETWEEN 3 AND 3 GROUP BY urgent;
SELECT urgent, COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND severity = 2 + 1 GROUP BY urgent;

SELECT ward, urgent, COUNT(*) AS n FROM encounters GROUP BY ward, urgent;
SELECT ward, urgent, COUNT(*) AS n FROM encounters GROUP BY urgent, ward;
SELECT urgent, ward, COUNT(*) AS n FROM encounters GROUP BY urgent, ward;
SELECT COUNT(*), urgent AS acute, ward FROM encounters GROUP BY 2, 3;
SELECT ward, urgent, COUNT(severity) AS n FROM encounters GROUP BY ward, urgent;
SELECT ward, urgent, COUNT(started) AS n FROM encounters GROUP BY ward, urgent;
SELECT ward, urgent, COUNT(*) AS n FROM encounters WHERE severity IN (1, 2, 3) GROUP BY ward, urgent;
SELECT ward, urgent, COUNT(*) AS n FROM encounters WHERE severity >= 1 GROUP BY ward, urgent;
SELECT ward, urgent, COUNT(*) AS n FROM encounters WHERE urgent OR NOT urgent GROUP BY ward, urgent HAVING ward = 'icu';
SELECT ward, urgent, COUNT(*) AS n FROM encounters WHERE started >= DATE '2020-01-30' GROUP BY ward, urgent;
SELECT ward, urgent, COUNT(*) AS n FROM encounters WHERE started <= '2020-03-02' GROUP BY ward, urgent ORDER BY 3;
SELECT ward, urgent, COUNT(*) AS n FROM encounters WHERE started BETWEEN '2020-01-30' AND '2020-03-02' GROUP BY ward, urgent;
SELECT w AS ward, u AS urgent, COUNT(*) FROM (SELECT patient_id, ward AS w, urgent AS u FROM encounters) AS d GROUP BY w, u;
SELECT ward, urgent = TRUE AS urgent, COUNT(*) AS n FROM encounters GROUP BY ward, urgent = TRUE;
SELECT ward, urgent, SUM(1) AS n FROM encounters GROUP BY ward, urgent;
SELECT ward, urgent, COUNT(CASE WHEN TRUE THEN 1 ELSE 0 END) AS n FROM encounters GROUP BY ward, urgent;

SELECT ward, AVG(days) AS stay FROM encounters GROUP BY ward;
SELECT ward, AVG(days) AS length FROM encounters GROUP BY ward;
SELECT ward, AVG(days) FROM encounters WHERE days IS NOT NULL GROUP BY ward;
SELECT ward, SUM(days) AS total, COUNT(days) AS n FROM encounters GROUP BY ward;
SELECT ward, COUNT(days) AS n, SUM(days) AS total FROM encounters GROUP BY ward;
SELECT ward, AVG(days), SUM(days) FROM encounters GROUP BY ward;
SELECT ward, AVG(days), COUNT(days), SUM(days) FROM encounters GROUP BY ward;
SELECT ward, COUNT(days) AS n FROM encounters GROUP BY ward HAVING AVG(days) > 2;
SELECT ward, AVG(days) FROM encounters GROUP BY ward ORDER BY 2 DESC LIMIT 1;
SELECT ward, SUM(days), COUNT(*) FROM encounters WHERE days IS NOT NULL GROUP BY ward;
SELECT ward, AVG(days) FROM encounters WHERE days >= -3 GROUP BY ward;
SELECT ward, AVG(days) FROM encounters WHERE days BETWEEN -3 AND 14 GROUP BY ward;
SELECT ward, AVG(d) FROM (SELECT patient_id, ward, days AS d FROM encounters) AS t GROUP BY ward;
SELECT ward, AVG(days + 0) FROM encounters GROUP BY ward;
SELECT ward, AVG(1 * days) FROM encounters GROUP BY ward;
SELECT ward, AVG(-(-days)) FROM encounters GROUP BY ward;
SELECT ward, AVG(COALESCE(days, NULL)) FROM encounters GROUP BY ward;
SELECT ward, AVG(CASE WHEN days IS NOT NULL THEN days END) FROM encounters WHERE days IS NOT NULL GROUP BY ward;
SELECT ward, AVG(CASE WHEN TRUE THEN days ELSE 1 END) FROM encounters GROUP BY ward;

SELECT SUM(cost) AS total FROM encounters WHERE ward = 'er';
SELECT SUM(cost) AS spent FROM encounters WHERE ward = 'er';
SELECT SUM(CASE WHEN ward = 'er' THEN cost END) AS total FROM encounters;
SELECT SUM(CASE WHEN ward = 'er' THEN cost ELSE 0 END) AS total FROM encounters;
SELECT SUM(CASE ward WHEN 'er' THEN cost ELSE 0 END) AS total FROM encounters;
SELECT SUM(CASE WHEN ward <> 'er' THEN 0 WHEN ward = 'er' THEN cost END) AS total FROM encounters;
SELECT SUM(COALESCE(cost, 0)) AS total FROM encounters WHERE ward = 'er';
SELECT SUM(cost) AS total FROM encounters WHERE ward = 'er' AND cost IS NOT NULL;
SELECT SUM(cost) AS total FROM encounters WHERE ward IN ('er') AND cost >= -1.5;
SELECT SUM(cost) AS total FROM encounters WHERE ward LIKE 'e%';
SELECT SUM(cost) AS total FROM encounters WHERE ward LIKE '%r' AND ward <> 'other';

SELECT severity, COUNT(*) AS n FROM encounters WHERE cost > 10 GROUP BY severity;
SELECT severity, COUNT(*) AS n FROM encounters WHERE cost >= 10.01 GROUP BY severity;
SELECT severity, COUNT(*) AS n FROM encounters WHERE cost > 10.00 GROUP BY severity;
SELECT severity, COUNT(*) AS n FROM encounters WHERE cost > 10.009 GROUP BY severity;
SELECT severity, COUNT(*) AS n FROM encounters WHERE NOT (cost <= 10) GROUP BY severity;
SELECT severity, COUNT(*) AS n FROM encounters WHERE cost BETWEEN 10.01 AND 99.99 GROUP BY severity;
SELECT severity, COUNT(*) AS n FROM encounters WHERE cost > 10 AND cost <= 1000 GROUP BY severity;
SELECT severity, COUNT(cost) AS n FROM encounters WHERE 10 < cost GROUP BY severity;

SELECT COUNT(*) AS n FROM encounters WHERE started >= DATE '2020-02-01' AND started < DATE '2020-03-01';
SELECT COUNT(*) AS n FROM encounters WHERE started BETWEEN '2020-02-01' AND '2020-02-29';
SELECT COUNT(*) AS n FROM encounters WHERE started > '2020-01-31' AND started <= '2020-02-29';
SELECT COUNT(*) AS n FROM encounters WHERE started < '2020-03-01' AND started > DATE '2020-01-31';
SELECT COUNT(*) AS n FROM encounters WHERE NOT (started < '2020-02-01' OR started >= '2020-03-01');
SELECT COUNT(*) AS n FROM encounters WHERE started - DATE '2020-02-01' BETWEEN 0 AND 28;
SELECT COUNT(*) AS n FROM encounters WHERE started - 1 >= '2020-01-31' AND started < '2020-03-01';
SELECT COUNT(*) AS n FROM encounters WHERE started NOT BETWEEN '2020-03-01' AND '2020-03-02' AND started NOT IN ('2020-01-30', '2020-01-31');
SELECT COUNT(*) AS n FROM encounters WHERE started < CURRENT_DATE AND started > '2020-01-31';
SELECT COUNT(*) AS n FROM encounters WHERE DATE_DIFF('day', started, CURRENT_DATE) BETWEEN 1 AND 29;
SELECT COUNT(*) AS n FROM encounters WHERE CURRENT_DATE - started > 0 AND started >= '2020-02-01';
SELECT COUNT(started) AS n FROM encounters WHERE started >= '2020-02-01' AND started <= '2020-02-29';

SELECT sex, COUNT(*) AS n FROM patients WHERE EXTRACT(YEAR FROM birth) = 2004 GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE birth BETWEEN '2004-01-01' AND '2004-12-31' GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE birth >= DATE '2004-01-01' AND birth < DATE '2005-01-01' GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE EXTRACT(YEAR FROM birth) IN (2004) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE EXTRACT(YEAR FROM birth) > 2003 AND birth < '2005-01-01' GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE NOT (birth < '2004-01-01') AND NOT (birth > '2004-12-31') GROUP BY sex;
SELECT sex, COUNT(birth) AS n FROM patients WHERE EXTRACT(YEAR FROM birth) BETWEEN 2004 AND 2004 GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE EXTRACT(YEAR FROM birth) = 2004 GROUP BY sex;

SELECT analyte, COUNT(*) AS n FROM labs WHERE taken >= TIMESTAMP '2020-02-29 00:00:00' AND taken < TIMESTAMP '2020-03-01 00:00:00' GROUP BY analyte;
SELECT analyte, COUNT(*) AS n FROM labs WHERE CAST(taken AS DATE) = '2020-02-29' GROUP BY analyte;
SELECT analyte, COUNT(*) AS n FROM labs WHERE CAST(taken AS DATE) = DATE '2020-02-29' AND taken IS NOT NULL GROUP BY analyte;
SELECT analyte, COUNT(*) AS n FROM labs WHERE CAST(taken AS DATE) BETWEEN '2020-02-29' AND '2020-02-29' GROUP BY analyte;
SELECT analyte, COUNT(*) AS n FROM labs WHERE taken >= '2020-02-29' AND NOT (taken >= '2020-03-01') GROUP BY analyte;
SELECT analyte, COUNT(taken) AS n FROM labs WHERE CAST(taken AS DATE) > '2020-02-28' AND CAST(taken AS DATE) < '2020-03-01' GROUP BY analyte;

SELECT CASE WHEN age < 20 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters WHERE age IS NOT NULL GROUP BY band;
SELECT CASE WHEN age < 20 THEN 'young' WHEN age >= 20 AND age < 65 THEN 'adult' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters WHERE age IS NOT NULL GROUP BY band;
SELECT CASE WHEN age BETWEEN 0 AND 19 THEN 'young' WHEN age BETWEEN 20 AND 64 THEN 'adult' ELSE 'old' END AS grp, COUNT(*) AS n FROM encounters WHERE age IS NOT NULL GROUP BY grp;
SELECT CASE WHEN age <= 19 THEN 'young' WHEN age <= 64 THEN 'adult' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters WHERE NOT age IS NULL GROUP BY 1;
SELECT CASE WHEN age >= 20 AND age <= 64 THEN 'adult' WHEN age < 20 THEN 'young' ELSE 'old' END AS band, COUNT(*) AS n FROM encounters WHERE age IS NOT NULL GROUP BY band;
SELECT band, COUNT(*) AS n FROM (SELECT patient_id, age, CASE WHEN age < 20 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END AS band FROM encounters) AS t WHERE age IS NOT NULL GROUP BY band;
WITH b AS (SELECT patient_id, CASE WHEN age < 20 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END AS band FROM encounters WHERE age >= 0) SELECT band, COUNT(*) FROM b GROUP BY band;
SELECT CASE WHEN age < 20 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END AS band, COUNT(age) AS n FROM encounters GROUP BY band;

SELECT severity = 3 AS grave, COUNT(*) AS n FROM encounters GROUP BY severity = 3;
SELECT severity > 2 AS grave, COUNT(*) AS n FROM encounters GROUP BY severity > 2;
SELECT severity IN (3) AS grave, COUNT(*) AS n FROM encounters GROUP BY grave;
SELECT NOT severity IN (1, 2) AS grave, COUNT(*) AS n FROM encounters GROUP BY grave;
SELECT CASE WHEN severity = 3 THEN TRUE ELSE FALSE END AS grave, COUNT(*) AS n FROM encounters GROUP BY grave;
SELECT CASE severity WHEN 3 THEN TRUE ELSE FALSE END AS grave, COUNT(*) AS n FROM encounters GROUP BY grave;
SELECT CASE severity WHEN 1 THEN FALSE WHEN 2 THEN FALSE ELSE TRUE END AS grave, COUNT(*) AS n FROM encounters GROUP BY grave;
SELECT CASE WHEN severity < 3 THEN FALSE ELSE TRUE END AS grave, COUNT(severity) AS n FROM encounters GROUP BY grave;

SELECT p.sex, COUNT(*) AS n FROM patients p JOIN encounters e ON p.patient_id = e.patient_id WHERE e.ward = 'icu' GROUP BY p.sex;
SELECT p.sex, COUNT(*) AS n FROM encounters e JOIN patients p ON p.patient_id = e.patient_id WHERE e.ward = 'icu' GROUP BY p.sex;
SELECT p.sex, COUNT(*) AS n FROM encounters e JOIN patients p ON e.patient_id = p.patient_id WHERE e.ward = 'icu' GROUP BY p.sex;
SELECT sex, COUNT(*) AS n FROM patients JOIN encounters USING (patient_id) WHERE ward = 'icu' GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM encounters INNER JOIN patients USING (patient_id) WHERE ward = 'icu' GROUP BY sex;
SELECT p.sex, COUNT(*) AS n FROM patients p JOIN encounters e ON p.patient_id = e.patient_id AND e.ward = 'icu' GROUP BY p.sex;
SELECT p.sex, COUNT(*) AS n FROM patients p JOIN encounters e ON e.ward = 'icu' AND p.patient_id = e.patient_id GROUP BY p.sex;
SELECT p.sex, COUNT(*) AS n FROM patients p JOIN (SELECT patient_id FROM encounters WHERE ward = 'icu') e ON p.patient_id = e.patient_id GROUP BY p.sex;
WITH icu AS (SELECT patient_id FROM encounters WHERE ward = 'icu') SELECT p.sex, COUNT(*) AS n FROM icu JOIN patients p ON p.patient_id = icu.patient_id GROUP BY p.sex;
WITH icu AS (SELECT patient_id FROM encounters WHERE ward = 'icu'), people AS (SELECT patient_id, sex FROM patients) SELECT sex, COUNT(*) AS n FROM people JOIN icu USING (patient_id) GROUP BY sex;
SELECT sex, SUM(CASE WHEN ward = 'icu' THEN 1 ELSE 0 END) AS n FROM patients JOIN encounters USING (patient_id) GROUP BY sex;
SELECT joined.sex, COUNT(*) AS n FROM (SELECT p.patient_id, p.sex, e.ward FROM patients p JOIN encounters e ON p.patient_id = e.patient_id) AS joined WHERE ward = 'icu' GROUP BY joined.sex;

SELECT p.sex, COUNT(DISTINCT p.patient_id) AS n FROM patients p JOIN encounters e USING (patient_id) JOIN diagnoses d USING (patient_id) WHERE d.seq = 1 GROUP BY p.sex;
SELECT p.sex, COUNT(DISTINCT p.patient_id) AS n FROM diagnoses d JOIN encounters e USING (patient_id) JOIN patients p USING (patient_id) WHERE d.seq = 1 GROUP BY p.sex;
SELECT p.sex, COUNT(DISTINCT e.patient_id) AS n FROM encounters e JOIN diagnoses d USING (patient_id) JOIN patients p USING (patient_id) WHERE d.seq < 2 GROUP BY p.sex;
SELECT p.sex, COUNT(DISTINCT d.patient_id) AS n FROM encounters e JOIN patients p USING (patient_id) JOIN (SELECT patient_id FROM diagnoses WHERE seq <= 1) d USING (patient_id) GROUP BY p.sex;
SELECT p.sex, COUNT(DISTINCT p.patient_id) AS n FROM patients p JOIN diagnoses d ON d.patient_id = p.patient_id AND d.seq = 1 JOIN encounters e ON e.patient_id = d.patient_id GROUP BY p.sex;

SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE certain) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.patient_id = p.patient_id AND d.certain) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT * FROM diagnoses d WHERE d.certain = TRUE AND p.patient_id = d.patient_id) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE certain = TRUE) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT d.patient_id FROM diagnoses AS d WHERE NOT d.certain = FALSE) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT DISTINCT patient_id FROM diagnoses WHERE certain) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE certain GROUP BY patient_id) GROUP BY sex;
WITH sure AS (SELECT patient_id FROM diagnoses WHERE certain) SELECT sex, COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM sure) GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM patients WHERE NOT (patient_id NOT IN (SELECT patient_id FROM diagnoses WHERE certain)) GROUP BY sex;
SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM (SELECT certain, patient_id FROM diagnoses) AS d WHERE certain) GROUP BY sex;

SELECT COUNT(*) AS n FROM diagnoses WHERE icd_chapter(code) = 'IX' OR icd_chapter(code) = 'IV';
SELECT COUNT(*) AS n FROM diagnoses WHERE icd_chapter(code) IN ('IV', 'IX');
SELECT COUNT(*) AS n FROM diagnoses WHERE NOT icd_chapter(code) NOT IN ('IX', 'IV');
SELECT COUNT(CASE WHEN icd_chapter(code) IN ('IX', 'IV') THEN 1 END) AS n FROM diagnoses;
SELECT SUM(CASE icd_chapter(code) WHEN 'IV' THEN 1 WHEN 'IX' THEN 1 ELSE 0 END) AS n FROM diagnoses;
SELECT COUNT(*) AS n FROM (SELECT patient_id, icd_chapter(code) AS chapter FROM diagnoses) AS c WHERE chapter IN ('IV', 'IX');
WITH c AS (SELECT patient_id, icd_chapter(code) AS chapter FROM diagnoses) SELECT COUNT(*) FROM c WHERE chapter = 'IV' OR chapter = 'IX';

SELECT n, COUNT(*) AS people FROM (SELECT patient_id, COUNT(*) AS n FROM encounters GROUP BY patient_id) AS t GROUP BY n;
SELECT visits, COUNT(*) AS people FROM (SELECT patient_id, COUNT(*) AS visits FROM encounters GROUP BY patient_id) AS t GROUP BY visits;
WITH t AS (SELECT patient_id, COUNT(*) AS n FROM encounters GROUP BY patient_id) SELECT n, COUNT(*) FROM t GROUP BY n;
WITH t AS (SELECT patient_id, COUNT(*) AS n, MAX(age) AS oldest FROM encounters GROUP BY patient_id) SELECT n, COUNT(DISTINCT patient_id) FROM t GROUP BY n;
WITH t AS (SELECT MIN(started) AS begun, patient_id, COUNT(*) AS n FROM encounters GROUP BY patient_id) SELECT n, COUNT(*) AS k FROM t GROUP BY n ORDER BY k DESC;
SELECT n, SUM(1) AS people FROM (SELECT patient_id, COUNT(*) AS n FROM encounters GROUP BY patient_id) AS t GROUP BY n;
SELECT n, COUNT(*) AS people FROM (SELECT patient_id, COUNT(*) AS n FROM encounters GROUP BY patient_id) AS t WHERE n >= 1 GROUP BY n;

SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started) AS r FROM encounters) AS t WHERE r = 1 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started ASC) AS place, patient_id, ward FROM encounters) AS t WHERE place = 1 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started) AS r FROM encounters) AS t WHERE r <= 1 GROUP BY ward;
WITH numbered AS (SELECT patient_id, ward, age, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started) AS r FROM encounters) SELECT ward, COUNT(*) AS firsts FROM numbered WHERE r = 1 GROUP BY ward;
WITH numbered AS (SELECT e.patient_id, e.ward, ROW_NUMBER() OVER (PARTITION BY e.patient_id ORDER BY e.started) AS r, COUNT(*) OVER (PARTITION BY e.patient_id) AS k FROM encounters AS e) SELECT ward, COUNT(DISTINCT patient_id) AS firsts FROM numbered WHERE r = 1 GROUP BY ward;

SELECT level, MEDIAN(result) AS middle FROM labs WHERE analyte = 'na' GROUP BY level;
SELECT level, QUANTILE(result, 0.5) AS middle FROM labs WHERE analyte = 'na' GROUP BY level;
SELECT level, QUANTILE(result, 0.25) AS low FROM labs WHERE analyte = 'na' GROUP BY level;
SELECT level, QUANTILE(result, 0.75, 64) AS high FROM labs WHERE analyte = 'na' GROUP BY level;
SELECT level, QUANTILE(result, 0.25) AS low, MEDIAN(result) AS middle, QUANTILE(result, 0.75) AS high FROM labs WHERE analyte = 'na' GROUP BY level;
SELECT level, MEDIAN(result) AS m FROM labs WHERE analyte <> 'k' GROUP BY level;
SELECT level, MEDIAN(result) AS m FROM labs WHERE analyte = 'na' AND result IS NOT NULL GROUP BY level ORDER BY m;

SELECT ward, COUNT(*) AS n FROM encounters WHERE age BETWEEN 20 AND 29 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age_band(age, 10) = '20-29' GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age_band(age, 10) IN ('20-29') GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age_band(age, 5) IN ('25-29', '20-24') GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age >= 20 AND age < 30 GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE age IN (20, 21, 22, 23, 24, 25, 26, 27, 28, 29) GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE NOT (age < 20 OR age > 29) GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE 30 > age AND 19 < age GROUP BY ward;

SELECT COUNT(*) AS n FROM encounters WHERE ended - started >= 7;
SELECT COUNT(*) AS n FROM encounters WHERE ended - started > 6;
SELECT COUNT(*) AS n FROM encounters WHERE DATE_DIFF('day', started, ended) >= 7;
SELECT COUNT(*) AS n FROM encounters WHERE started - ended <= -7;
SELECT COUNT(*) AS n FROM encounters WHERE NOT ended - started < 7;
SELECT COUNT(*) AS n FROM encounters WHERE ended >= started + 7;
SELECT COUNT(*) AS n FROM encounters WHERE started + 6 < ended;
SELECT COUNT(*) AS n FROM encounters WHERE ended - 7 >= started;
SELECT COUNT(ended) AS n FROM encounters WHERE ended - started >= 7;
SELECT COUNT(*) AS n FROM (SELECT patient_id, ended - started AS stay FROM encounters) AS t WHERE stay >= 7;
SELECT SUM(CASE WHEN ended - started >= 7 THEN 1 ELSE 0 END) AS n FROM encounters;

SELECT smoker, COUNT(*) AS n FROM patients WHERE sex <> 'other' GROUP BY smoker;
SELECT smoker, COUNT(*) AS n FROM patients WHERE sex IN ('m', 'f') GROUP BY smoker;
SELECT smoker, COUNT(*) AS n FROM patients WHERE sex = 'm' OR sex = 'f' GROUP BY smoker;
SELECT smoker, COUNT(*) AS n FROM patients WHERE NOT sex = 'other' GROUP BY smoker;
SELECT smoker, COUNT(patient_sex) AS n FROM (SELECT patient_id, smoker, sex AS patient_sex FROM patients) AS t WHERE patient_sex NOT IN ('other') GROUP BY smoker;
SELECT smoker, COUNT(DISTINCT patient_id) AS n FROM patients WHERE sex < 'o' GROUP BY smoker;
SELECT smoker = TRUE AS smoker, COUNT(*) AS n FROM patients WHERE sex <> 'other' GROUP BY 1;
SELECT NOT smoker = FALSE AS smoker, COUNT(*) AS n FROM patients WHERE sex <> 'other' GROUP BY 1;

SELECT COUNT(DISTINCT patient_id) AS n FROM patients;
SELECT COUNT(*) AS n FROM patients;
SELECT COUNT(sex) AS n FROM patients;
SELECT SUM(1) AS n FROM patients;
SELECT COUNT(*) AS people FROM patients WHERE TRUE;
SELECT COUNT(*) AS people FROM (SELECT patient_id, region FROM patients) AS p;
SELECT COUNT(*) AS people FROM patients WHERE sex IN ('f', 'm', 'other');
SELECT COUNT(DISTINCT p.patient_id) FROM patients p WHERE NOT FALSE;
SELECT COUNT(*) AS people FROM patients WHERE 3 > 2;

SELECT grade, COUNT(*) AS n FROM encounters e JOIN grades g ON e.severity = g.severity WHERE e.urgent GROUP BY grade;
SELECT g.grade, COUNT(*) AS n FROM encounters e JOIN grades g ON g.severity = e.severity WHERE e.urgent = TRUE GROUP BY g.grade;
SELECT g.grade, COUNT(*) AS n FROM encounters e JOIN grades g ON g.severity = e.severity AND e.urgent GROUP BY g.grade;
SELECT g.grade, COUNT(*) AS n FROM (SELECT patient_id, severity FROM encounters WHERE urgent) e JOIN grades g ON g.severity = e.severity GROUP BY g.grade;
SELECT g.grade, COUNT(*) AS n FROM encounters e JOIN grades g ON g.severity = e.severity WHERE NOT e.urgent = FALSE GROUP BY g.grade;

SELECT ward, COUNT(*) AS n FROM encounters WHERE (ward = 'icu' AND age > 60) OR (ward = 'icu' AND severity = 3) GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE ward = 'icu' AND (age > 60 OR severity = 3) GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE (severity > 2 OR age >= 61) AND ward = 'icu' GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM encounters WHERE NOT (NOT (age > 60) AND severity <> 3) AND ward = 'icu' GROUP BY ward;

SELECT COUNT(*) AS n FROM encounters WHERE age = 5 OR age IS NULL;
SELECT COUNT(*) AS n FROM encounters WHERE age IS NULL OR age = 5;
SELECT COUNT(*) AS n FROM encounters WHERE NOT (age <> 5 AND age IS NOT NULL);
SELECT COUNT(*) AS n FROM encounters WHERE COALESCE(age = 5, TRUE);
SELECT COUNT(*) AS n FROM encounters WHERE age IN (5) OR age + 1 IS NULL;

SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward FROM encounters UNION ALL SELECT patient_id, ward FROM labs) AS u GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward FROM labs UNION ALL SELECT patient_id, ward FROM encounters) AS u GROUP BY ward;
SELECT w, COUNT(*) AS n FROM (SELECT ward AS w, patient_id FROM encounters UNION ALL SELECT ward AS w, patient_id FROM labs) AS u GROUP BY w;
WITH a AS (SELECT patient_id, ward FROM encounters), b AS (SELECT patient_id, ward FROM labs), u AS (SELECT patient_id, ward FROM b UNION ALL SELECT patient_id, ward FROM a) SELECT ward, COUNT(*) FROM u GROUP BY ward;

SELECT p.sex, COUNT(d.seq) AS n FROM patients p LEFT JOIN diagnoses d ON p.patient_id = d.patient_id AND d.certain GROUP BY p.sex;
SELECT p.sex, COUNT(d.seq) AS n FROM patients p LEFT JOIN diagnoses d ON d.certain = TRUE AND d.patient_id = p.patient_id GROUP BY p.sex;
SELECT p.sex, COUNT(d.seq) AS n FROM patients AS p LEFT JOIN (SELECT patient_id, seq, certain FROM diagnoses) AS d ON p.patient_id = d.patient_id AND NOT d.certain = FALSE GROUP BY p.sex;
SELECT p.sex, SUM(CASE WHEN d.seq IS NOT NULL THEN 1 ELSE 0 END) AS n FROM patients p LEFT JOIN diagnoses d ON p.patient_id = d.patient_id AND d.certain GROUP BY p.sex;

SELECT smoker, COUNT(*) AS n FROM patients p WHERE NOT EXISTS (SELECT 1 FROM encounters e WHERE e.patient_id = p.patient_id AND e.ward = 'icu' AND e.age > 64) GROUP BY smoker;
SELECT smoker, COUNT(*) AS n FROM patients p WHERE NOT EXISTS (SELECT 1 FROM encounters e WHERE e.age >= 65 AND e.ward = 'icu' AND p.patient_id = e.patient_id) GROUP BY smoker;
SELECT smoker, COUNT(*) AS n FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM encounters WHERE ward = 'icu' AND age > 64) GROUP BY smoker;
SELECT smoker, COUNT(*) AS n FROM patients WHERE NOT patient_id IN (SELECT patient_id FROM encounters WHERE NOT (age < 65) AND ward IN ('icu')) GROUP BY smoker;
WITH old AS (SELECT patient_id, ward FROM encounters WHERE age BETWEEN 65 AND 120) SELECT smoker, COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM old WHERE ward = 'icu') GROUP BY smoker;
SELECT smoker, COUNT(DISTINCT q.patient_id) AS n FROM patients q WHERE NOT EXISTS (SELECT * FROM encounters v WHERE v.patient_id = q.patient_id AND NOT (v.ward <> 'icu' OR v.age <= 64)) GROUP BY smoker;

SELECT region, SUM(days) AS total FROM patients p JOIN encounters e USING (patient_id) WHERE p.sex = 'f' AND e.urgent GROUP BY region;
SELECT region, SUM(e.days) AS total FROM encounters e JOIN patients p USING (patient_id) WHERE e.urgent AND p.sex = 'f' GROUP BY region;
SELECT p.region, SUM(e.days) AS s FROM patients p JOIN encounters e ON e.patient_id = p.patient_id AND e.urgent = TRUE AND p.sex = 'f' GROUP BY p.region;
SELECT p.region, SUM(CASE WHEN e.urgent THEN e.days ELSE 0 END) AS s FROM patients p JOIN encounters e USING (patient_id) WHERE p.sex IN ('f') GROUP BY p.region;
SELECT p.region, SUM(CASE WHEN e.urgent AND p.sex = 'f' THEN e.days END) AS s FROM patients p JOIN encounters e USING (patient_id) GROUP BY p.region;
WITH women AS (SELECT patient_id, region FROM patients WHERE sex = 'f') SELECT region, SUM(days) FROM women JOIN encounters USING (patient_id) WHERE urgent GROUP BY region;
WITH women AS (SELECT patient_id, region FROM patients WHERE NOT sex <> 'f'), acute AS (SELECT patient_id, days FROM encounters WHERE urgent) SELECT region, SUM(days) AS d FROM acute JOIN women USING (patient_id) GROUP BY region;
SELECT p.region, SUM(COALESCE(e.days, 0)) AS s FROM patients p JOIN encounters e USING (patient_id) WHERE p.sex = 'f' AND e.urgent GROUP BY p.region ORDER BY s DESC LIMIT 1;

SELECT EXTRACT(MONTH FROM started) AS month, COUNT(*) AS n FROM encounters WHERE ward IN ('icu', 'er') GROUP BY month;
SELECT EXTRACT(MONTH FROM started) AS m, COUNT(*) AS n FROM encounters WHERE ward <> 'other' GROUP BY m;
SELECT EXTRACT(MONTH FROM started) AS month, COUNT(started) AS n FROM encounters WHERE ward = 'er' OR ward = 'icu' GROUP BY EXTRACT(MONTH FROM started);
SELECT month, COUNT(*) AS n FROM (SELECT patient_id, ward, EXTRACT(MONTH FROM started) AS month FROM encounters) AS t WHERE ward IN ('er', 'icu') GROUP BY month;
SELECT month, COUNT(*) AS n FROM (SELECT patient_id, ward, EXTRACT(MONTH FROM started) AS month FROM encounters) AS t WHERE NOT ward = 'other' GROUP BY month HAVING month > 1;
WITH t AS (SELECT patient_id, EXTRACT(MONTH FROM started) AS month FROM encounters WHERE ward IN ('icu', 'er')) SELECT month, COUNT(*) FROM t GROUP BY month ORDER BY month DESC;

SELECT ward, COUNT(DISTINCT patient_id) AS n FROM encounters WHERE age >= 65 AND (urgent OR severity = 3) GROUP BY ward;
SELECT ward, COUNT(DISTINCT patient_id) AS n FROM encounters WHERE (severity = 3 OR urgent) AND age > 64 GROUP BY ward;
SELECT ward, COUNT(DISTINCT patient_id) AS n FROM encounters WHERE (age >= 65 AND urgent) OR (age >= 65 AND severity = 3) GROUP BY ward;
SELECT ward, COUNT(DISTINCT patient_id) AS n FROM encounters WHERE NOT (age < 65 OR (NOT urgent AND severity <> 3)) AND age IS NOT NULL GROUP BY ward;
SELECT ward, COUNT(DISTINCT patient_id) AS n FROM encounters WHERE age BETWEEN 65 AND 120 AND (urgent = TRUE OR severity > 2) GROUP BY ward;
SELECT ward, COUNT(DISTINCT e.patient_id) AS n FROM encounters e WHERE CASE WHEN e.age >= 65 THEN TRUE ELSE FALSE END AND (e.urgent OR e.severity IN (3)) GROUP BY ward;

SELECT local_kind, COUNT(*) AS n FROM (SELECT patient_id, level(local, 'kind') AS local_kind FROM diagnoses) AS t WHERE local_kind = 'drug' GROUP BY local_kind;
SELECT level(local, 'kind') AS k, COUNT(*) AS n FROM diagnoses WHERE level(local, 'kind') = 'drug' GROUP BY k;
SELECT level(local, 'kind') AS k, COUNT(*) AS n FROM diagnoses WHERE level(local, 'kind') IN ('drug') GROUP BY 1;
SELECT level(local, 'kind') AS k, COUNT(*) AS n FROM diagnoses WHERE level(local, 'kind') <> 'test' GROUP BY 1;
SELECT level(local, 'kind') AS k, COUNT(CASE WHEN level(local, 'kind') = 'drug' THEN 1 END) AS n FROM diagnoses GROUP BY 1;

SELECT total, COUNT(*) AS n FROM (SELECT patient_id, SUM(severity) AS total FROM encounters GROUP BY patient_id) AS t WHERE total > 3 GROUP BY total;
SELECT total, COUNT(*) AS n FROM (SELECT patient_id, SUM(severity) AS total FROM encounters GROUP BY patient_id) AS t WHERE total >= 4 GROUP BY total;
SELECT total, COUNT(*) AS n FROM (SELECT patient_id, SUM(severity) AS total FROM encounters GROUP BY patient_id HAVING SUM(severity) > 3) AS t GROUP BY total;
WITH t AS (SELECT patient_id, SUM(severity) AS s, COUNT(*) AS n FROM encounters GROUP BY patient_id) SELECT s, COUNT(*) FROM t WHERE NOT s <= 3 GROUP BY s;
WITH t AS (SELECT patient_id, SUM(severity) AS s FROM encounters WHERE severity BETWEEN 1 AND 3 GROUP BY patient_id) SELECT s AS total, COUNT(DISTINCT patient_id) AS n FROM t WHERE s > 3 GROUP BY s;

SELECT AVG(result) AS mean FROM labs WHERE analyte = 'k' AND level IN (5, 10);
SELECT AVG(result) AS mean FROM labs WHERE level IN (10, 5) AND analyte = 'k';
SELECT AVG(result) AS mean FROM labs WHERE level > 0 AND analyte <> 'na';
SELECT AVG(result) AS mean FROM labs WHERE level <> 0 AND analyte IN ('k');
SELECT AVG(result) FROM labs WHERE level >= 5 AND NOT analyte = 'na';
SELECT SUM(result), COUNT(result) FROM labs WHERE (level = 5 OR level = 10) AND analyte = 'k';
SELECT AVG(l.result) AS potassium FROM labs AS l WHERE NOT (l.level = 0 OR l.analyte = 'na');
SELECT AVG(r) FROM (SELECT patient_id, result AS r, level FROM labs WHERE analyte = 'k') AS k WHERE level BETWEEN 1 AND 10;

SELECT region, sex, COUNT(*) AS n FROM patients WHERE birth < '2000-01-01' GROUP BY region, sex;
SELECT sex, region, COUNT(*) AS n FROM patients WHERE birth <= '1999-12-31' GROUP BY sex, region;
SELECT sex, region, COUNT(birth) AS n FROM patients WHERE NOT birth >= DATE '2000-01-01' GROUP BY region, sex;
SELECT sex, region, COUNT(*) AS n FROM patients WHERE EXTRACT(YEAR FROM birth) < 2000 GROUP BY 2, 1;
SELECT sex, region, COUNT(DISTINCT patient_id) AS n FROM patients WHERE EXTRACT(YEAR FROM birth) <= 1999 GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5;
SELECT sex, region, COUNT(*) AS n FROM patients WHERE birth < CURRENT_DATE AND birth < '2000-01-01' GROUP BY sex, region HAVING COUNT(*) > 20;
WITH born AS (SELECT patient_id, sex, region FROM patients WHERE birth BETWEEN '1919-12-31' AND '1999-12-31') SELECT sex, region, COUNT(*) FROM born GROUP BY sex, region;
SELECT sex, region, SUM(CASE WHEN birth < '2000-01-01' THEN 1 ELSE 0 END) AS n FROM patients GROUP BY sex, region;

SELECT p.sex, AVG(e.severity) AS mean FROM patients p JOIN encounters e USING (patient_id) WHERE p.smoker GROUP BY p.sex;
SELECT p.sex, AVG(e.severity) AS mean FROM encounters e JOIN patients p USING (patient_id) WHERE p.smoker = TRUE GROUP BY p.sex;
SELECT p.sex, AVG(e.severity) AS mean FROM encounters e JOIN patients p ON p.patient_id = e.patient_id AND p.smoker GROUP BY p.sex;
SELECT s.sex, AVG(e.severity) AS mean FROM (SELECT patient_id, sex FROM patients WHERE smoker) s JOIN encounters e USING (patient_id) GROUP BY s.sex;
WITH s AS (SELECT patient_id, sex FROM patients WHERE NOT smoker = FALSE) SELECT sex, AVG(severity) FROM encounters JOIN s USING (patient_id) GROUP BY sex;
SELECT p.sex, SUM(e.severity) AS s, COUNT(*) AS n FROM patients p JOIN encounters e USING (patient_id) WHERE p.smoker AND p.smoker IS NOT NULL GROUP BY p.sex;
SELECT p.sex, COUNT(e.severity) AS n, SUM(e.severity) AS s FROM patients p JOIN encounters e USING (patient_id) WHERE COALESCE(p.smoker, FALSE) GROUP BY p.sex;

SELECT COUNT(*) AS n FROM encounters WHERE note LIKE 'fa%' OR note = 'Fall';
SELECT COUNT(*) AS n FROM encounters WHERE note = 'Fall' OR note LIKE 'fa%';
SELECT COUNT(note) AS n FROM encounters WHERE NOT (note NOT LIKE 'fa%' AND note <> 'Fall');
SELECT SUM(CASE WHEN note LIKE 'fa%' OR note IN ('Fall') THEN 1 ELSE 0 END) AS n FROM encounters;
SELECT COUNT(*) AS n FROM encounters WHERE (note LIKE 'fa%' AND note IS NOT NULL) OR note IN ('Fall', 'Fall');

SELECT TRUNC(started, 'Q') AS q, COUNT(*) AS n FROM encounters GROUP BY q;
SELECT DATE_TRUNC('quarter', started) AS q, COUNT(*) AS n FROM encounters GROUP BY q;

SELECT w, COUNT(*) AS n FROM (SELECT patient_id, ANY_VALUE(ward) AS w FROM encounters GROUP BY patient_id) AS e GROUP BY w;
SELECT w, COUNT(*) AS n FROM (SELECT patient_id, MIN(ward) AS w FROM encounters GROUP BY patient_id) AS e GROUP BY w;

SELECT old, COUNT(*) AS n FROM (SELECT patient_id, age >= 60 AS old FROM encounters UNION SELECT patient_id, age >= 50 FROM encounters) AS u GROUP BY old;
SELECT old, COUNT(*) AS n FROM (SELECT patient_id, age >= 60 AS old FROM encounters UNION SELECT patient_id, age >= 50 AS older FROM encounters) AS u GROUP BY old;

SELECT COUNT(*) AS n FROM encounters WHERE CONCAT(ward, age) = 'x7' OR ward || age = 'x7';
SELECT COUNT(*) AS n FROM encounters WHERE CONCAT(ward, CAST(age AS TEXT)) = 'x7' OR ward || CAST(age AS TEXT) = 'x7';

SELECT COUNT(*) AS n FROM encounters WHERE MAKE_DATE(EXTRACT(YEAR FROM started), 7, 1) > started;
SELECT COUNT(*) AS n FROM encounters WHERE DATEADD(year, EXTRACT(YEAR FROM started) - 2001, DATE '2001-07-01') > started;

SELECT COUNT(*) FROM encounters e LEFT JOIN diagnoses d ON d.patient_id = e.patient_id AND d.seq = 1 WHERE d.seq IS NULL;
SELECT COUNT(*) FROM encounters e LEFT JOIN diagnoses d ON d.patient_id = e.patient_id AND d.seq = 1 WHERE NOT (d.seq IS NOT NULL);
SELECT COUNT(*) FROM encounters e LEFT JOIN diagnoses d ON d.patient_id = e.patient_id AND d.seq = 1 WHERE NOT (NOT (d.seq IS NULL));

SELECT COUNT(DISTINCT patient_id) FROM (SELECT patient_id, level, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY taken) AS rn FROM labs) x WHERE rn = 2 AND level = 5;
SELECT COUNT(DISTINCT patient_id) FROM (SELECT patient_id, level, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY taken) AS rn FROM labs) x WHERE NOT (NOT (rn = 2) OR NOT (level = 5));
