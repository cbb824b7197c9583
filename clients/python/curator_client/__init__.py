"""Ask a Curator server private questions from Python."""
