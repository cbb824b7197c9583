SELECT sex, COUNT(DISTINCT patient_id) AS patients, COUNT(*) AS visits FROM encounters GROUP BY sex
