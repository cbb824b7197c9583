"""What is known of each token: the four groups of HIDE, layout and phrases."""
