"""Mondrian: classes by cutting a table in two, again and again."""
