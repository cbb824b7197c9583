"""What is computed of an answer's numbers: arithmetic, variances, windows."""
