"""Revisions, oldest first; none is ever changed."""
