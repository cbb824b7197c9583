"""Who asks: keys, tokens, roles, limits, and what each may see."""
