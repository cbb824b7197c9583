"""What a second reading compares: folded texts, parted numbers, words with a slip."""
