-- stored decimals are scaled integers; 1.234 lies between two of them
SELECT COUNT(*) FROM encounters
WHERE cost > 1.234 AND cost <> 1.005 AND stay <= cost AND age >= 0.5 AND visits = 2.50
  AND cost < 92233720368547758.08 AND 60 < age AND stay IN (2.5, 2.55, 3)
