"""Declarations of a dataset: tables, columns, hierarchies."""
