"""Releases on disk: written, signed, opened."""
