"""What classes must have: k-anonymity, l-diversity, t-closeness."""
