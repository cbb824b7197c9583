"""Shapes of bodies and replies, with their examples."""
