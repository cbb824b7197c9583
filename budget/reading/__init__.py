"""What may be read of the ledger, and by whom."""
