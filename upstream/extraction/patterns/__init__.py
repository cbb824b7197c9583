"""Forms that identifiers are written in: regular expressions with checks."""
