"""Commands of linkages."""
