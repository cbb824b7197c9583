"""Incognito: all full-domain generalizations with a principle, and the best one."""
