"""Making a release: spec, price, charge, files."""
