"""What is published of sequences, and what readers are told from it."""
