"""Strategies of sequence releases: each spends a loss on one log."""
