"""The way of a question: look-up, hold, charge, run, store, reveal."""
