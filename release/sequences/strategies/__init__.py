"""How a loss is spent on sequences: one file a strategy, one registry."""
