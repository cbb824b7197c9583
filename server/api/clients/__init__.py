"""The clients as files, which a server offers to machines without a network."""
