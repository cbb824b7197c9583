"""Commands about releases."""
