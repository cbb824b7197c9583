"""Settings, where they come from, and which ones are unsafe."""
