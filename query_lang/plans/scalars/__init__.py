"""What functions of one row give, by themselves."""
