"""Anonymized copies: never differential privacy, and never called it."""
