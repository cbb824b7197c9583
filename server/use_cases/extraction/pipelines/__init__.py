"""Private tables that are made of texts."""
