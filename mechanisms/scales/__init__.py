"""Scale, half-width and price of a measurement."""
