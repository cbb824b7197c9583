"""Cells that share one count: boxes, levels, spreads."""
