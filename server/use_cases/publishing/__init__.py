"""Making and withdrawing a release: spec, price, charge, files."""
