"""Longitudinal data: trajectories of codes at ages, aligned in clusters (LDA)."""
