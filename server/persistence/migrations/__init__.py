"""The one history of the catalogue database."""
