"""What custodians do with rows before and beside questions: load, tag, link, copy."""
