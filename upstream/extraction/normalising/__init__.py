"""What a span says as a value: dates, ages, numbers with units, codes, categories."""
