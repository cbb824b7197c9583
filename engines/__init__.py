"""Rendered plan to sealed exact aggregates. Knows no epsilon."""
