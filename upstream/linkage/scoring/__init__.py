"""Scores of pairs: match weights by EM, or FRIL's weighted sum."""
