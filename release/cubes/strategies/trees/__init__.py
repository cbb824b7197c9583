"""Strategies that measure a hierarchy of cells."""
