"""Copies of diagnosis codes: what is published, measured and checked of each.

The methods themselves, which know no copies, are in ``upstream/trajectories``.
"""
