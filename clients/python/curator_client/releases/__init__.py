"""Published releases."""
