"""Losses as people are told them: of which measure, and what they promise."""
