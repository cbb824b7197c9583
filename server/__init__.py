"""The service: HTTP, commands, use cases and persistence."""
