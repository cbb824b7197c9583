"""A synthetic hospital for demos and tests; no row of it is of a real person."""
