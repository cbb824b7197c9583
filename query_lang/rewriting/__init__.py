"""Idioms of other dialects turned into the language's own words, tree to tree."""
