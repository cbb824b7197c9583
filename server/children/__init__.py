"""Child processes that read what strangers and custodians wrote."""
