"""Statistics of grams: consistent counts, chains, posteriors."""
