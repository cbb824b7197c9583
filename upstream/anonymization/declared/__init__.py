"""What a custodian declares of an anonymized table, and the columns made of it."""
