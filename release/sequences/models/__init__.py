"""Published models of sequences: noisy values, and what follows from them."""
