"""What to write instead of functions, words and signs of other dialects."""
