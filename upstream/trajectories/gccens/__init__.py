"""Greedy code censoring: repeated codes, capped until k people fit (GCCens)."""
