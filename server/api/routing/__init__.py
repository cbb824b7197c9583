"""Who comes in, when, and when replies leave."""
