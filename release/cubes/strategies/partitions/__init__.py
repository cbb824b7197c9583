"""Strategies that first cut the cube into parts."""
