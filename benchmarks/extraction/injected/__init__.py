"""What injection puts into reports, and what it finds there already."""
