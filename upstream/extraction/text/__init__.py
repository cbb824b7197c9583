"""Documents, spans and tokens: what all of extraction speaks of."""
