SELECT COUNT(*) FROM encounters WHERE age > 130 OR ward = 'east' OR admitted = '2023-01-01'
