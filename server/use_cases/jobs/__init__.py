"""Jobs: stored, queued, run and followed."""
