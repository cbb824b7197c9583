"""What an anonymized table lost, what it risks, and how precisely it is queried."""
