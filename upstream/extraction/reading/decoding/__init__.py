"""Bytes become text, and each character keeps its place in the original."""
