"""Judging of models: cross-validation, curves, and cards."""
