"""Plans of releases: cubes and sequences, from specs instead of questions."""
