"""Datasets and snapshots as analysts and custodians see them."""
