"""Counts in a hierarchy over the cells."""
