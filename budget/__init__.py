"""Limits, charges, and the ledger that records both."""
