"""Exact integer noise from the operating system's entropy."""
