"""A table that was read: what copies of it publish, lose and risk, by k."""
