"""What a column seems to hold, and which domain is proposed for it."""
