"""Releases of sequences: prefix trees, n-grams, and temporal questions to them."""
