"""How accurate releases are, against published methods on the same samples."""
