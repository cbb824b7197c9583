"""Totals that a text asks for: in brackets, and by ROLLUP and the like."""
