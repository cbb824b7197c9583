"""Source files to typed rows on disk, in buckets of the unit key."""
