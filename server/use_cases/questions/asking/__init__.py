"""Asking: price, give for nothing or charge, execute and answer, in that order."""
