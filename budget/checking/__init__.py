"""Whether the ledger is whole: verification, replay and reconciliation."""
