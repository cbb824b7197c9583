"""Routes of what is published."""
