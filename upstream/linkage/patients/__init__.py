"""Patients: links and decisions made into unit keys that stay."""
