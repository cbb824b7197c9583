"""Linkages: which records are one patient's, and what clerks say of doubtful pairs."""
