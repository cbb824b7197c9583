"""Which noisy vectors give a question's numbers, added and taken away; no data."""
