"""Entries that are hashed one after another, and the anchor outside the database."""
