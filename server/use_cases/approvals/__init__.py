"""Changes that need a second person: what they alter, and whether it still holds."""
