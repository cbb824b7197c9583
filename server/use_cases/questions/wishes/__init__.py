"""Accuracies that are wished for: what they cost, and what keeps to them."""
