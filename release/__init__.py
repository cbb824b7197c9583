"""Stored private artefacts: their algorithms, their store, and querying them."""
