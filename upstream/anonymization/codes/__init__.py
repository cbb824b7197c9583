"""Copies of patients' diagnosis codes: repeats censored, or trajectories aligned."""
