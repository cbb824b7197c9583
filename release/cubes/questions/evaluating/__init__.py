"""Estimates of a question's rows, and their half-widths."""
