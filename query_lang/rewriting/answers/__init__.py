"""Aggregates of several tables, or of groups, in one text: one question."""
