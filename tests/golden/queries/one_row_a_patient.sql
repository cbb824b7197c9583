SELECT region, sex, COUNT(*), COUNT(DISTINCT p.patient_id) FROM patients AS p GROUP BY 1, 2
