"""Notes whose quasi-identifiers become lists of values (DAST)."""
