"""Anonymized tables: what is known to weaken risk, and is no differential privacy."""
