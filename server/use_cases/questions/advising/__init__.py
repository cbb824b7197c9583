"""Cheaper ways to a number, and a project's rule about dear questions."""
