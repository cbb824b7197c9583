"""Dates, moments and intervals: every way to say them, and one meaning of each."""
