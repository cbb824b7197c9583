"""Texts, spans and models as rows."""
