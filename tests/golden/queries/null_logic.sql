SELECT smoker, COUNT(*) AS n FROM encounters
WHERE NOT (smoker AND ward IS NULL OR NOT urgent) OR age IS NOT NULL AND NOT age IN (30, 31)
GROUP BY smoker
