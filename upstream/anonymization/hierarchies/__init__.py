"""Generalization hierarchies of columns: from files, intervals, and code systems."""
