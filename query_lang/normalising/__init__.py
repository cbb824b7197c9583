"""The normal form of a bound plan: one for questions that are always answered alike."""
