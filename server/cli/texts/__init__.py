"""Commands about texts and models."""
