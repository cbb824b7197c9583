"""A directory from which Curator is installed where there is no network."""
