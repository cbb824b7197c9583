"""Losses of one measure in another, rounded up."""
