"""Anonymization of diagnosis codes and notes: censored, aligned, enumerated."""
