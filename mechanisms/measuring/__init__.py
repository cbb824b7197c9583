"""Sealed aggregates to noisy numbers, each for a part of what was charged."""
