"""Loads and activations of snapshots, and what is compared before either."""
