"""Intervals of what is computed of an answer's noisy numbers."""
