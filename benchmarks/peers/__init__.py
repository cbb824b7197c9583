"""Curator beside other tools of differential privacy, on the same made-up rows."""
