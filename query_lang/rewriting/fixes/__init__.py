"""Mechanical fixes of what other dialects write, text to text."""
