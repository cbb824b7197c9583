"""What answers questions of a published cube."""
