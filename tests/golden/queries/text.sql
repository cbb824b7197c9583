SELECT ward, COUNT(*) AS n FROM encounters
WHERE code IN ('E11', 'é', 'O''Neil', 'E11') AND sex <> 'other' AND code >= ''
GROUP BY ward
