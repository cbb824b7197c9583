"""How good linking is, and what the loop between extraction and linking gains."""
