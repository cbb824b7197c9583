"""What drawing noise takes, beside OpenDP."""
