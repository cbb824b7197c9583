"""Whether anything declared public is keyed by people."""
