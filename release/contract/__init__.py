"""What models, strategies and answers of all kinds of releases have in common."""
