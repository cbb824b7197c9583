"""Registers: the records of a linkage, what was compared, and whose each record is."""
