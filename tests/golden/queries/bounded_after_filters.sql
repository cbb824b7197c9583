-- bound max_rows 3
-- bound max_groups 1
SELECT ward, COUNT(*) AS n, COUNT(DISTINCT patient_id) AS patients
FROM encounters WHERE age >= 18 GROUP BY ward
