"""Staged rows to one snapshot, whole or not at all."""
