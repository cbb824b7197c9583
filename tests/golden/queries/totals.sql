SELECT COALESCE(sex, 'all') AS sex, ward, GROUPING(sex, ward) AS g, COUNT(*) AS n, AVG(age)
FROM encounters WHERE level >= 2 GROUP BY ROLLUP (sex, ward);
