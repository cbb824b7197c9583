"""The ledger's database: its tables, statements and transactions."""
