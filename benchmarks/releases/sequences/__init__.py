"""Releases of sequences: accuracy, time, memory."""
