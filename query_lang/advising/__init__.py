"""Texts that ask for less than a given one, and so cost less."""
