"""How well the values of two records agree, field by field, in levels."""
