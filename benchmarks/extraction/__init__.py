"""How good and how fast extraction of identifiers is, on texts that are open to all."""
