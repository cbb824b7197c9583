-- bound tables.encounters 2
SELECT ward, COUNT(*) AS n FROM encounters WHERE age >= 18 GROUP BY ward
