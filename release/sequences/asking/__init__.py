"""Temporal questions to published sequences: public numbers in, estimates out."""
