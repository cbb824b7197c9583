"""Sequences as strategies see them: walked, sampled, counted under a seal."""
