"""Data cubes."""
