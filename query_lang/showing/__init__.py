"""From noisy values to what an answer shows: rows, intervals, derivation."""
