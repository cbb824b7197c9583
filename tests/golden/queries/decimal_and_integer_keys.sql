SELECT dose, level, COUNT(*) AS n FROM encounters GROUP BY level, dose
