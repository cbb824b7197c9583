"""What a charge is checked against, and what is charged for."""
