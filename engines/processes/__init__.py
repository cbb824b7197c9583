"""Child processes: how they start, where they run, what they are told."""
