"""For custodians and auditors: statements, the ledger, what was spent."""
