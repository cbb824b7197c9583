SELECT COUNT(*) AS pairs FROM encounters a JOIN encounters b
  ON a.patient_id = b.patient_id AND a.stay = b.cost AND a.discharged = b.discharged
