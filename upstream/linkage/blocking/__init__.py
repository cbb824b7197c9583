"""Which pairs of records are compared at all."""
