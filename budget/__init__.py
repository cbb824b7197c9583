"""May this be released? Accountant, filter, odometer and ledger."""
