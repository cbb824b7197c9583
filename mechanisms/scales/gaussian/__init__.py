"""Scale, half-width and price of discrete Gaussian noise."""
