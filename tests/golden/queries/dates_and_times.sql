SELECT admitted, COUNT(*) FROM encounters
WHERE admitted BETWEEN '2024-01-30' AND DATE '2024-02-01' AND admitted <= discharged
  AND seen >= '2024-01-30' AND seen NOT BETWEEN TIMESTAMP '2024-01-30 09:00:00' AND '2024-01-30T10:00:00.5'
GROUP BY admitted
