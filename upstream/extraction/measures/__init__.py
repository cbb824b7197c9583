"""Figures: what was found, held against what is there, and whether figures differ."""
