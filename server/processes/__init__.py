"""Serving and working processes beside each other."""
