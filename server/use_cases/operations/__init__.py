"""Backups, restores and the doctor."""
