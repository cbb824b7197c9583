"""What a question means: nodes and expressions, with their bounds and domains."""
