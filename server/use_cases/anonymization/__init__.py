"""Anonymized copies: kept apart from releases, handed out by two persons."""
