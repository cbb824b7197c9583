"""The image: its health check, and its steps without a container engine."""
