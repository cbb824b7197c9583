"""How a release's loss is divided and spent: one file a strategy, one registry."""
