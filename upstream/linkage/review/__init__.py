"""What clerks are shown of a doubtful pair, and what they say of it."""
