SELECT e.ward w, sex, COUNT(DISTINCT e.patient_id), COUNT(*), COUNT(*) AS again
FROM encounters e GROUP BY w, e.sex;
