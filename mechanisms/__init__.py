"""Numbers to noisy numbers. Knows no tables."""
