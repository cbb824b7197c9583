"""Tables of few dimensions, fitted to one another."""
