"""Statements, the ledger and odometers, for whoever looks over shoulders."""
