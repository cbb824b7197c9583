SELECT UPPER(ward) || '/' || LEFT(sex, 1) AS place, COUNT(*) AS n
FROM encounters
WHERE code LIKE '_1%' OR LENGTH(code) > 5 AND code ~ '^[A-S].*9$'
GROUP BY place
